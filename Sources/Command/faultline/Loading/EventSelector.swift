import FaultlineFindings
import FaultlineReport
import FaultlineTrace

/// Selects events of a trace as they are read.
struct EventSelector<End: EndOption> {
    private let options: EventSelection<End>
    /// The criteria that some event met.
    private var met: Set<Criterion> = []
    private var isAnySelected = false
    /// The names that events have instead of those of criteria that no event met.
    private var names: [Criterion: Set<String>] = [:]
    /// The maximum number of names that are kept for a criterion.
    private static var mostNames: Int { 4096 }

    /// A criterion that names something, which the trace may not have.
    private enum Criterion: CaseIterable {
        case entity, thread, scope, site, finding
    }

    /// The events that the selected finding rests on, or `nil` if no finding is selected.
    private let basis: EventBasis?

    /// - Parameter finding: The finding that the options select, or `nil` if they select none.
    init(_ options: EventSelection<End>, finding: Finding? = nil) {
        self.options = options
        basis = finding?.basis
    }

    /// Whether an event of a process is selected.
    ///
    /// Call it for all events in the trace's order, because it observes the process's scopes.
    mutating func selects(_ event: TraceEvent, _ process: inout ProcessNames) -> Bool {
        process.observe(event)
        guard options.kind?.kinds.contains(event.kind) ?? true,
            event.duration >= options.minDuration?.nanoseconds ?? 0,
            event.end >= options.from?.nanoseconds ?? 0, event.start <= options.to?.nanoseconds ?? .max
        else { return false }
        for criterion in Criterion.allCases {
            guard let isMet = meets(criterion, event, &process) else { continue }
            guard isMet else {
                if !met.contains(criterion) { remember(event, for: criterion, &process) }
                return false
            }
            met.insert(criterion)
        }
        isAnySelected = true
        return true
    }

    /// Whether an event meets a criterion, or `nil` if the criterion was not given.
    private func meets(_ criterion: Criterion, _ event: TraceEvent, _ process: inout ProcessNames) -> Bool? {
        switch criterion {
        case .entity:
            options.entity.map { entity in
                event.detail.entities.contains { process.dictionary.entity($0)?.name == entity }
            }
        case .thread: options.thread.map { isOnThread($0, event, process.dictionary) }
        case .scope: options.scope.map { process.isWithin($0, event) }
        case .site: options.site.map { pattern in process.site(of: event).map(pattern.matches) ?? false }
        case .finding:
            basis.map { process.isEvent(event, of: $0) }
        }
    }

    /// Keeps the names that an event has, to suggest one of them if no event meets the criterion.
    private mutating func remember(_ event: TraceEvent, for criterion: Criterion, _ process: inout ProcessNames) {
        guard names[criterion]?.count ?? 0 < Self.mostNames else { return }
        let found: [String] =
            switch criterion {
            case .entity: event.detail.entities.compactMap { process.dictionary.entity($0)?.name }
            case .thread:
                event.isMainThread ? ["main"] : [process.dictionary.thread(event.thread)?.name].compactMap(\.self)
            case .scope: [process.scope(around: event)].compactMap(\.self)
            case .site: [process.site(of: event)?.description].compactMap(\.self)
            case .finding: []
            }
        names[criterion, default: []].formUnion(found)
    }

    /// The name that was probably meant by a criterion that no event met, in quotation marks if the criterion's is.
    private func suggestion(for criterion: Criterion) -> String? {
        let known = names[criterion, default: []].sorted()
        let nearest: String? =
            switch criterion {
            case .entity: options.entity.flatMap { NearestName.of($0, in: known) }
            case .thread: options.thread.flatMap { NearestName.of($0, in: known) }
            case .scope: options.scope.flatMap { NearestName.of($0, in: known) }
            case .site: options.site?.nearest(in: known)
            case .finding: nil
            }
        return nearest.map { criterion == .site ? $0 : "\"\($0)\"" }
    }

    private func isOnThread(_ thread: String, _ event: TraceEvent, _ dictionary: TraceDictionary) -> Bool {
        if thread == "main" { return event.isMainThread }
        return thread == String(event.thread) || thread == dictionary.thread(event.thread)?.name
    }

    /// The words for a criterion, or `nil` if it was not given.
    private func words(_ criterion: Criterion) -> String? {
        switch criterion {
        case .entity: options.entity.map { "of an entity \"\($0)\"" }
        case .thread: options.thread.map { "on a thread \"\($0)\"" }
        case .scope: options.scope.map { "within a scope \"\($0)\"" }
        case .site: options.site.map { "at \($0.description)" }
        case .finding: options.finding.map { "that finding \($0) rests on" }
        }
    }

    /// Prints why no event was selected, after the last one was read.
    ///
    /// - Throws: ``CommandFailure`` if the trace does not have a name that was given, which is probably mistyped. A time or a
    ///   finding without events is not a mistake.
    func tellRemarks() throws {
        let named: [Criterion] = [.entity, .thread, .scope, .site]
        let isMistyped = !isAnySelected && named.contains { words($0) != nil && !met.contains($0) }
        for remark in remarks.dropLast() { Terminal.tell(remark) }
        guard let last = remarks.last else { return }
        if isMistyped { throw CommandFailure.usage(last) }
        Terminal.tell(last)
    }

    /// Sentences about criteria that no event met, or about all of them if no event met all.
    var remarks: [String] {
        if isAnySelected || options.isWhole { return [] }
        let unmet = Criterion.allCases.filter { !met.contains($0) }.compactMap { criterion in
            words(criterion).map { words in
                let hint = suggestion(for: criterion).map { "; did you mean \($0)?" } ?? "."
                return "The trace has no event \(words)\(hint)"
            }
        }
        return unmet.isEmpty ? ["The trace has no such event."] : unmet
    }
}

/// Collects the events that a finding rests on, and the paths of the program's sources, as a trace is read.
struct FindingEvents {
    /// The number of events that are kept.
    private static let most = 10

    private let basis: EventBasis
    private var processes: [UInt32: ProcessNames] = [:]
    private var printers: [UInt32: EventText] = [:]
    /// The slowest events, the slowest first.
    private var slowest: [(duration: UInt64, line: String)] = []
    private var count: UInt64 = 0
    /// The paths of sources from the debugging information.
    private(set) var sourcePaths: Set<String> = []
    /// The start of the first recording in seconds since 1970, or `nil` if it is unknown.
    private(set) var date: Double?

    init(of finding: Finding) {
        basis = finding.basis
    }

    var events: FindingPage.Events { .init(count: count, slowest: slowest.map(\.line)) }

    mutating func add(_ message: TraceMessage) {
        switch message {
        case .entry(let process, let id, let entry):
            processes[process, default: ProcessNames()].insert(entry, id: id)
            if case .frame(let frame) = entry {
                for location in frame.locations where !location.file.isEmpty { sourcePaths.insert(location.file) }
            }
        case .began(let began) where began.date > 0: date = min(date ?? .infinity, began.date)
        case .event(let event): add(event)
        default: break
        }
    }

    private mutating func add(_ event: TraceEvent) {
        var names = processes[event.process].take() ?? ProcessNames()
        defer { processes[event.process] = names }
        names.observe(event)
        guard names.isEvent(event, of: basis) else { return }
        count += 1
        if slowest.count == Self.most, let last = slowest.last, last.duration >= event.duration { return }
        let lines = printers[event.process, default: EventText(dictionary: names.dictionary)].lines(event)
        // Among equals, the first in the trace comes first.
        let position = slowest.firstIndex { $0.duration < event.duration } ?? slowest.count
        slowest.insert((event.duration, lines[0]), at: position)
        if slowest.count > Self.most { slowest.removeLast() }
    }
}
