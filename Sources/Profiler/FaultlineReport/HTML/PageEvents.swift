internal import FaultlineProfile
package import FaultlineRules
package import FaultlineTrace

/// Collects the events of a trace for a page.
///
/// It keeps a limited number of them. If a trace has more, it keeps the samples, the longest events, and an equal share of those
/// without a duration. The others become totals by thread, kind and time, so the page still shows when they happened.
package struct PageEvents {
    /// The default for the number of events that a page shows.
    package static let standardLimit = 1_000_000
    /// The number of findings whose events are marked, a bit each of a number that JavaScript holds exactly.
    static let markedFindings = 48

    let analysis: Analysis
    private let limit: Int
    private(set) var tables = PageTables()
    private(set) var rows: [PageRow] = []
    /// The fields of each kind's events, one event after the other.
    private(set) var fields: [EventKind: [UInt64]] = [:]
    private(set) var omitted: OmittedEvents
    private(set) var count = 0
    /// The numbers of samples, and of other events that take no time, among them.
    private var seenSamples = 0
    private var seenInstants = 0
    private var sampleShare = EqualShare()
    private var instantShare = EqualShare()
    private var processes: [UInt32: PageProcess] = [:]
    private var openScopes: [ScopeKey: Int] = [:]
    /// The number of events at which some are left out next.
    private var nextThinning: Int

    private struct ScopeKey: Hashable {
        var process: UInt32
        var id: EventID
    }

    /// - Parameters:
    ///   - analysis: The analysis of the same trace, whose findings the events are marked with.
    ///   - limit: The number of events to keep.
    package init(_ analysis: Analysis, limit: Int = standardLimit) {
        self.analysis = analysis
        self.limit = max(1, limit)
        nextThinning = self.limit / 4 * 5 + 1
        omitted = OmittedEvents(span: Self.span(of: analysis.profile))
    }

    /// The time between the first start and the last end of the trace's processes.
    static func span(of profile: Profile) -> ClosedRange<UInt64> {
        let first = profile.processes.map(\.start).min() ?? 0
        return first...max(first &+ 1, profile.processes.map(\.end).max() ?? 0, first &+ profile.wallTime)
    }

    /// Adds a message of the trace, in the trace's order.
    package mutating func add(_ message: TraceMessage) {
        switch message {
        case .entry(let process, let id, let entry):
            processes[process, default: PageProcess()].insert(entry, id: id)
        case .event(let event): add(event)
        case .began, .lost, .ended: break
        }
    }

    private mutating func add(_ event: TraceEvent) {
        if case .scope(let scope) = event.detail, scope.phase == .end {
            // The event of the end has the whole time of the scope.
            if let row = openScopes.removeValue(forKey: ScopeKey(process: event.process, id: event.id)) {
                rows[row].duration = event.duration
                return name(row, by: event)
            }
        }
        count += 1
        if event.kind.isSample { seenSamples += 1 } else if event.kind.isInstant { seenInstants += 1 }
        if omits(event) {
            let lane = OmittedEvents.Lane(thread: tables.thread(of: event), kind: event.kind)
            return omitted.add(lane, start: event.start, duration: event.duration)
        }
        var process = processes.removeValue(forKey: event.process) ?? PageProcess()
        defer { processes[event.process] = process }
        let values = event.detail.values
        if event.kind.isSample, !sampleShare.contains(event.id, event.start) {
            let name = event.kind.presentation.weight
            let weight = values.fields.first { $0.field.name == name }?.value ?? 0
            let lane = OmittedEvents.Lane(thread: tables.thread(of: event), kind: event.kind)
            return omitted.add(lane, start: event.start, duration: event.duration, weight: weight)
        }
        let common = process.common(
            of: event, values, analysis.findings.prefix(Self.markedFindings), in: &tables)
        let place = fields[event.kind]?.count ?? 0
        for (field, value) in values.fields {
            fields[event.kind, default: []].append(process.value(field, value, in: &tables))
        }
        if case .scope(let scope) = event.detail, scope.phase == .begin {
            openScopes[ScopeKey(process: event.process, id: event.id)] = rows.count
        }
        rows.append(
            PageRow(
                kind: event.kind, process: event.process, id: event.id, parent: event.parent, scope: event.scope,
                start: event.start, duration: event.duration, runDelay: event.runDelay,
                thread: tables.thread(of: event), context: process.context(event.context, in: &tables),
                site: common.site, path: process.path(of: event, in: &tables), label: common.label,
                lists: tables.strings.number(of: process.lists(of: event, values)), findings: common.findings,
                flags: UInt64(event.unrecorded.rawValue), weights: Self.weights(of: event),
                fields: place))
        if rows.count > nextThinning { thin(to: limit) }
    }

    /// The weights that are not 0, a bit each.
    private static func weights(of event: TraceEvent) -> UInt64 {
        var bits: UInt64 = 0
        for (bit, weight) in CallTreeWeight.all.enumerated() where weight.of(event) > 0 { bits |= 1 << UInt64(bit) }
        return bits
    }

    /// Gives a scope the name that it has at its end: that of a request is known only once the program's own code runs.
    private mutating func name(_ row: Int, by end: TraceEvent) {
        var process = processes.removeValue(forKey: end.process) ?? PageProcess()
        defer { processes[end.process] = process }
        let values = end.detail.values
        let findings = analysis.findings.prefix(Self.markedFindings)
        rows[row].label = process.common(of: end, values, findings, in: &tables).label
        for (offset, (field, value)) in values.fields.enumerated() where field.name == "name" {
            fields[end.kind]?[rows[row].fields + offset] = process.value(field, value, in: &tables)
        }
    }

    /// Whether an event is left out at once, because longer ones already were, or because it is outside the share that is kept.
    ///
    /// Most events of a long trace are, which spares finding out what the page would show of them. A scope's duration is not
    /// known before its end.
    private func omits(_ event: TraceEvent) -> Bool {
        if event.kind == .scope || event.kind.isSample { return false }
        return event.kind.isInstant ? !instantShare.contains(event.id, event.start) : event.duration < omitted.longest
    }

    /// Closes the scopes that the trace does not close, and puts the events in order.
    package mutating func finish() {
        let ends = Dictionary(
            analysis.profile.processes.map { ($0.process, $0.end) }, uniquingKeysWith: { max($0, $1) })
        let last = rows.map(\.end).max() ?? 0
        for (key, row) in openScopes {
            rows[row].duration = max(rows[row].start, ends[key.process] ?? last) - rows[row].start
        }
        openScopes = [:]
        if rows.count > limit { thin(to: limit) }
        rows.sort(by: PageRow.precedes)
    }

    func threadName(_ thread: PageTables.Thread) -> String {
        processes[thread.process]?.threadName(thread.thread) ?? ""
    }

    /// Leaves out events, so that a number of them are left: the shortest, and of those that take no time an equal share
    /// throughout the trace.
    ///
    /// Samples stand for more than themselves. They are kept, unless they are more than half of that number.
    private mutating func thin(to number: Int) {
        defer { nextThinning = max(limit, rows.count) / 4 * 5 + 1 }
        guard rows.count > number else { return }
        let open = Set(openScopes.values)
        var (samples, instants, durations): ([UInt64], [UInt64], [UInt64]) = ([], [], [])
        for (index, row) in rows.enumerated() where !open.contains(index) {
            if row.kind.isSample {
                samples.append(EqualShare.rank(row.id, row.start))
            } else if row.kind.isInstant {
                instants.append(EqualShare.rank(row.id, row.start))
            } else {
                durations.append(row.duration)
            }
        }
        durations.sort()
        let room = max(0, number - open.count)
        // No event is kept that is shorter than one that was left out before.
        let tooShort = durations.partition(below: omitted.longest)
        let longEnough = durations.count - tooShort
        let keptSamples = min(samples.count, max(room / 2, room - longEnough - instants.count))
        // Of events that take no time, as large a share is kept as of the others.
        let share = Double(room - keptSamples) * Double(seenInstants) / Double(max(1, count - seenSamples))
        let keptInstants = min(instants.count, max(Int(share), room - keptSamples - longEnough))
        sampleShare.keep(keptSamples, of: samples)
        instantShare.keep(keptInstants, of: instants)
        let fewer = min(durations.count, max(tooShort, durations.count - (room - keptSamples - keptInstants)))
        let least = fewer > 0 ? durations[fewer - 1] : 0
        // Of the events of the same duration, only as many as needed are left out.
        var same = fewer > 0 ? fewer - durations.partition(below: least) : 0
        keep { [sampleShare, instantShare] index, row in
            if open.contains(index) { return true }
            if row.kind.isSample { return sampleShare.contains(row.id, row.start) }
            if row.kind.isInstant { return instantShare.contains(row.id, row.start) }
            guard row.duration < least || row.duration == least && same > 0 else { return true }
            if row.duration == least { same -= 1 }
            return false
        }
    }

    /// Keeps the events for which `isKept` returns true, and sums the others.
    private mutating func keep(_ isKept: (Int, PageRow) -> Bool) {
        var kept: [PageRow] = []
        var keptFields: [EventKind: [UInt64]] = [:]
        var places: [Int: Int] = [:]
        for (index, var row) in rows.enumerated() {
            let schema = EventSchema.of(row.kind)
            let values = fields[row.kind]?[row.fields..<row.fields + schema.fields.count] ?? []
            guard isKept(index, row) else {
                let name = row.kind.presentation.weight
                let weight = schema.fields.firstIndex { $0.name == name }
                omitted.add(
                    .init(thread: row.thread, kind: row.kind), start: row.start, duration: row.duration,
                    weight: weight.map { values[values.startIndex + $0] } ?? 0)
                continue
            }
            places[index] = kept.count
            row.fields = keptFields[row.kind]?.count ?? 0
            keptFields[row.kind, default: []] += values
            kept.append(row)
        }
        (rows, fields) = (kept, keptFields)
        openScopes = openScopes.compactMapValues { places[$0] }
    }
}

extension [UInt64] {
    /// The number of elements below a value, in an array that is sorted.
    fileprivate func partition(below value: UInt64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
