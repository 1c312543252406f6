internal import FaultlineFindings
package import FaultlineProfile
internal import FaultlineTrace

/// An open group of fetches of one shape from one line on one thread in one scope.
struct OpenLoop: RepeatedGroup {
    struct Key: ScopedKey {
        var scope: EventID
        var thread: UInt32
        /// The index of the fetches in the tables.
        var fetch: Int
    }

    var repetition = Repetition()
    var values = DistinctCount()
    /// The operands of each term in one of the fetches, and a bit for each term whose operands varied.
    var operands: [UInt64] = []
    var varied: UInt64 = 0
    /// The fetches' only range, or `nil`, and the operands of the last fetch.
    var range: TermRange?
    private var last: [UInt64] = []
    /// The fetches whose range begins where the one before ends, or ends where it begins.
    private(set) var adjoining: UInt64 = 0

    mutating func merge(_ other: OpenLoop) {
        repetition.merge(other.repetition)
        values.formUnion(other.values)
        note(other.operands)
        varied |= other.varied
        adjoining &+= other.adjoining
    }

    /// Compares the range of a fetch with the range of the one before.
    mutating func noteRange(_ operands: [UInt64]) {
        guard let range, range.lower != range.upper else { return }
        if !last.isEmpty, operands[range.lower] == last[range.upper] || operands[range.upper] == last[range.lower] {
            adjoining &+= 1
        }
        last = operands
    }

    mutating func note(_ operands: [UInt64]) {
        for (term, (old, new)) in zip(self.operands, operands).enumerated() where old != new {
            varied |= 1 << UInt64(term & 63)
        }
    }
}

/// Detects consecutive fetches that differ in one value, or in one range.
struct LoopDetector: EvidenceDetector {
    static let name = "loops"
    static let kinds: Set<EventKind> = [.fetch]
    static let capacity = 4096

    /// The minimum number of fetches, and of distinct values, of a loop.
    static let threshold = Threshold(
        "R04", "minimumFetches", 5, .count, "minimum fetches, and values, of a loop")

    var evidence: [LoopEvidence.Key: LoopEvidence] = [:]
    private(set) var open = BoundedTable<OpenLoop.Key, OpenLoop>(capacity: capacity)

    /// Adds a fetch to the open group of its shape and line.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .fetch(let fetch) = event.detail, let index = context.current?.index else { return }
        let shape = tables.fetches[index].key.shape
        // Batched results are lists of their own. Object IDs do not show which value they belong to.
        guard fetch.resultType != .objectIDs, fetch.error == 0, fetch.batchSize == 0 else { return }
        if shape.hasUnrecordedValues == true {
            guard fetch.resultType == .objects || fetch.resultType == .count else { return }
        } else {
            guard let terms = shape.terms, !terms.isEmpty, fetch.operands.count == terms.count, !Self.isPaged(fetch)
            else { return }
        }
        let key = OpenLoop.Key(scope: event.scope, thread: event.thread, fetch: index)
        if let loop = open.removeIfOver(key, before: event, in: context) {
            evaluate([(key, loop)], in: &context, tables)
        }
        add(fetch, event, to: key, in: &context, tables)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(open.drain(), in: &context, tables)
    }

    private mutating func add(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, to key: OpenLoop.Key, in context: inout ProcessContext,
        _ tables: ProfileTables
    ) {
        var loop = OpenLoop()
        loop.operands = fetch.operands
        if !open.contains(key) {
            loop.range = TermRange(tables.fetches[key.fetch].key.shape)
        }
        if !open.contains(key), let evicted = open.insert(loop, for: key) {
            evaluate([evicted], in: &context, tables)
        }
        open.add(event, rows: UInt64(fetch.rows), to: key, in: &context) { loop in
            loop.values.insert(fetch.parameters)
            loop.note(fetch.operands)
            loop.noteRange(fetch.operands)
        }
    }

    /// Whether a fetch returns a page of the matching rows.
    ///
    /// A joint fetch for several values would return other pages.
    ///
    /// A limit of 1, for the only or the first row of a value, is not a page.
    private static func isPaged(_ fetch: TraceEvent.Fetch) -> Bool {
        fetch.offset > 0 || fetch.limit > 1
    }

    /// Adds loops to the evidence if they pass the thresholds.
    private mutating func evaluate(
        _ open: [(key: OpenLoop.Key, value: OpenLoop)], in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        for (key, loop) in context.units(of: open) {
            let shape = tables.fetches[key.fetch].key.shape
            let term = Self.variedTerm(loop, of: shape)
            let hasValues = loop.values.count >= Self.threshold.count && term != nil
            guard loop.repetition.executions >= Self.threshold.count, hasValues || shape.hasUnrecordedValues == true
            else {
                continue
            }
            add(loop, key, term: term, in: &context, tables)
        }
    }

    /// The one term whose values differ, if one fetch can compare with all of them at once; the lower bound of a range.
    private static func variedTerm(_ loop: OpenLoop, of shape: ShapeEntry) -> Int? {
        if let range = loop.range, loop.varied == range.bits { return range.lower }
        guard loop.varied.nonzeroBitCount == 1, let terms = shape.terms else { return nil }
        let position = loop.varied.trailingZeroBitCount
        guard position < terms.count else { return nil }
        return terms[position].isJoinable || terms[position].isSubquery ? position : nil
    }

    private mutating func add(
        _ loop: OpenLoop, _ key: OpenLoop.Key, term: Int?, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        let evidenceKey = LoopEvidence.Key(fetch: tables.fetches[key.fetch].key, term: term)
        let repetition = loop.repetition
        var found = LoopEvidence(
            repetition,
            in: surroundings(of: key.scope, for: evidenceKey, outside: repetition.wallTime, in: &context))
        found.values = term == nil ? 0 : loop.values.count(of: repetition.executions)
        found.speeds = repetition.speeds
        found.adjoining = loop.adjoining
        add(found, to: evidenceKey)
    }
}

extension Profile {
    /// Fetches that ran in a loop.
    var loops: [(key: LoopEvidence.Key, evidence: LoopEvidence)] {
        evidence(of: LoopDetector.self)
    }

    /// The evidence of one loop.
    func loop(of fetch: FetchProfile.Key, term: Int?) -> LoopEvidence? {
        tables.evidence[LoopDetector.self][LoopEvidence.Key(fetch: fetch, term: term)]
    }

    /// The fetches of one loop.
    package func runs(ofLoop fetch: FetchProfile.Key, term: Int?) -> RunSums? { loop(of: fetch, term: term)?.runs }
}

/// Consecutive fetches of one shape from one line, each with another value, or another range, of one property.
///
/// It includes only fetches that passed the thresholds within one scope.
struct LoopEvidence: RunEvidence {
    var runs = RunSums()
    struct Key: Sendable, Hashable {
        var fetch: FetchProfile.Key
        /// The index of the property's term in ``ShapeEntry/terms``, or `nil` if the values are unknown.
        var term: Int?
    }

    /// The number of distinct values of the property.
    var values: UInt64 = 0
    /// The durations of the fetches.
    var speeds = Speeds()
    /// The fetches for a range that begins where the one before ends, or ends where it begins.
    var adjoining: UInt64 = 0
}

extension LoopEvidence {
    static let parts: [SumPart<LoopEvidence>] = [
        .members(\.runs), .sum("values", \.values), .sum("adjoining", \.adjoining), .part("speeds", \.speeds),
    ]
}

extension LoopEvidence.Key {
    /// The term whose values differ; of unknown values, those of the only term that can.
    var variedTerm: ShapeEntry.Term? {
        guard let terms = fetch.shape.terms else { return nil }
        if let term { return term < terms.count ? terms[term] : nil }
        return terms.count == 1 && terms[0].isJoinable ? terms[0] : nil
    }

    /// Whether the fetches compare the members of a to-many relationship with an object or a value.
    var comparesMembers: Bool {
        guard let term, let terms = fetch.shape.terms, term < terms.count else { return false }
        return terms[term].comparesMembers
    }
}

extension ShapeEntry.Term {
    /// Whether `IN` can compare with the values of several fetches at once.
    var isJoinable: Bool {
        isAlternative != true && isNegated != true && options == nil && ["==", "IN", "ANY =="].contains(operation)
    }

    /// Whether it is true if any member of a to-many relationship compares so.
    var comparesMembers: Bool { operation.hasPrefix("ANY ") }
}

extension LoopEvidence {
    /// Whether one fetch for all values is worth advising.
    ///
    /// It is not if trips cost little compared with the rows, or if the results serve a purpose that needs separate
    /// fetches.
    func isWorthJoining(_ key: Key, _ profile: Profile) -> Bool {
        switch FetchLoopKind(key, profile.fetch(key.fetch)) {
        case .rows: runs.rows < FetchLoopRule.manyRows &* runs.executions
        case .groups, .first: true
        case nil: false
        }
    }
}

extension LoopEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    var sortText: String { fetch.sortText + "\u{2}" + (term.map { String($0) } ?? "") }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([fetch.stored(&words), term.map { .number(Int64($0)) } ?? .none])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        let fetch = try FetchProfile.Key(parts[0], words)
        let term = parts[1] == .none ? nil : try parts[1].count()
        guard term.map({ $0 < UInt64(fetch.shape.terms?.count ?? 0) }) ?? true else {
            throw StoredProblem(path: ["1"], expected: "the number of one of the shape's terms")
        }
        self.init(fetch: fetch, term: term.map { Int($0) })
    }
}

/// The time of a loop's fetches, in nanoseconds.
///
/// The functions take the profile of all fetches from the loop's line.
extension LoopEvidence {
    /// The time without work that is done once, such as preparing the statement, for each of the lines that fit the costs.
    func repeatedTime(_ fetch: FetchProfile?, _ estimate: CostModel.Estimate) -> (CostLine) -> Double {
        let unsaved = pendingTime(fetch)
        let rest = max(0, Double(runs.time) - preparation(fetch) - unsaved)
        return { unsaved + estimate.typical(rest, trips: Double(runs.executions), rows: Double(runs.rows), $0) }
    }

    /// The time once statements are prepared and pages are in memory.
    ///
    /// Fewer than ten fetches have no slowest tenth to leave out, so only the preparation of statements is subtracted.
    func typicalTime(_ fetch: FetchProfile?) -> Double {
        runs.executions < 10 ? max(0, Double(runs.time) - preparation(fetch)) : speeds.typicalTime
    }

    /// The time in which the fetches compared unsaved objects.
    func pendingTime(_ fetch: FetchProfile?) -> Double {
        guard let counts = fetch?.counts, counts.executions > 0 else { return 0 }
        return Double(counts.pendingTime) * Double(min(runs.executions, counts.executions)) / Double(counts.executions)
    }

    private func preparation(_ fetch: FetchProfile?) -> Double { fetch?.counts.prepareTime(of: runs.executions) ?? 0 }
}

/// The predicate of the one fetch that replaces many that differ in one term.
struct LoopTerms {
    private let term: ShapeEntry.Term
    private let others: [ShapeEntry.Term]
    private let isSimple: Bool
    private let api: StoreCode

    init(_ shape: ShapeEntry, except term: ShapeEntry.Term, _ api: StoreCode) {
        (self.term, self.api) = (term, api)
        var others = shape.terms ?? []
        if let position = others.firstIndex(of: term) { others.remove(at: position) }
        // The other bound of a range varies with this one.
        if term.isBound { others.removeAll { $0.isBound && $0.keyPath == term.keyPath } }
        self.others = others
        isSimple = others.allSatisfy {
            $0.isAlternative != true && $0.isNegated != true && $0.options == nil && $0.operand == "value"
                && ["==", "!=", "<", "<=", ">", ">="].contains($0.operation)
        }
    }

    /// The terms that do not change, or `nil` if there are none.
    var text: String? {
        guard !others.isEmpty else { return nil }
        return others.map { term in
            "\(term.isNegated == true ? "NOT " : "")\(term.keyPath) \(term.operation) \(term.operand == "nil" ? "nil" : "?")"
        }.joined(separator: ", ")
    }

    /// The predicate as code, one term per line.
    var predicate: [String] {
        let isObject = term.operand == "object" || term.keyPath.uppercased() == "SELF"
        if term.isBound { return range }
        if api.usesCoreData { return coreData(isObject) }
        if term.comparesMembers {
            let rest = others.isEmpty ? [] : ["    && otherTerms"]
            let format = "FetchPredicate(format: \"ANY \(term.keyPath) IN %@\", \(isObject ? "objects" : "values"))"
            return ["request.predicate = try \(format)"] + rest
        }
        let list = ".isIn(\"\(term.keyPath)\", \(isObject ? "objects: ids" : "values"))"
        guard !others.isEmpty else { return ["request.predicate = \(list)"] }
        return ["request.predicate = FetchPredicate\(list)"] + rest
    }

    /// The predicate for all ranges of a property.
    private var range: [String] {
        let name = api.property(term.keyPath) ?? term.keyPath
        guard !api.usesCoreData else {
            let format = "\"\(name) >= %@ AND \(name) < %@\""
            let range = "NSPredicate(format: \(format), lowest, highest)"
            guard !others.isEmpty else { return ["request.predicate = \(range)"] }
            return [
                "let range = \(range)",
                "request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [range, otherTerms])",
            ]
        }
        let path = "PropertyPath(\"\(name)\")"
        return ["request.predicate = \(path) >= lowest && \(path) < highest"] + rest
    }

    /// The terms that do not change, as further lines of a predicate.
    private var rest: [String] {
        guard !others.isEmpty else { return [] }
        guard isSimple else { return ["    && otherTerms"] }
        return others.map { "    && PropertyPath(\"\($0.keyPath)\") \($0.operation) \(Self.name($0.keyPath))" }
    }

    /// The predicate as a format of Core Data.
    private func coreData(_ isObject: Bool) -> [String] {
        let any = term.comparesMembers ? "ANY " : ""
        let format = "\(any)\(api.property(term.keyPath) ?? term.keyPath) IN %@"
        let values = isObject ? "objects" : "values"
        guard !others.isEmpty else {
            return ["request.predicate = NSPredicate(format: \"\(format)\", \(values))"]
        }
        let names = others.map { api.property($0.keyPath) ?? $0.keyPath }
        guard isSimple else {
            return [
                "let list = NSPredicate(format: \"\(format)\", \(values))",
                "request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [list, otherTerms])",
            ]
        }
        let rest = zip(names, others).map { " AND \($0) \($1.operation) %@" }.joined()
        let arguments = ([values] + names.map(Self.name)).joined(separator: ", ")
        return ["request.predicate = NSPredicate(format: \"\(format)\(rest)\", \(arguments))"]
    }

    /// A variable name for a value: the last component of its key path.
    private static func name(_ keyPath: String) -> String {
        keyPath.split(separator: ".").last.map(String.init) ?? "value"
    }
}
