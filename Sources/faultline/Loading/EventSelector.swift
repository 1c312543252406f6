import FaultlineTrace

/// Selects events of a trace as they are read.
struct EventSelector {
    private let options: EventSelection
    private var processes: [UInt32: Process] = [:]
    /// The criteria that some event met, by the words for those that none did.
    private var met: Set<String> = []
    private var isAnySelected = false

    /// The names and the scopes of a process.
    private struct Process {
        var dictionary = TraceDictionary()
        var resolver: CallSiteResolver?
        var scopes: [EventID: (name: String?, outer: EventID)] = [:]

        mutating func site(of event: TraceEvent) -> CallSite? {
            var resolver = self.resolver.take() ?? CallSiteResolver(dictionary: dictionary)
            defer { self.resolver = resolver }
            return resolver.reportedSite(of: event)
        }

        /// Whether an event is within a scope of a name, at any depth.
        func isWithin(_ name: String, _ event: TraceEvent) -> Bool {
            var next = event.kind == .scope ? event.id : event.scope
            while let scope = scopes[next] {
                if scope.name == name { return true }
                next = scope.outer
            }
            return false
        }
    }

    init(_ options: EventSelection) {
        self.options = options
    }

    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID, of process: UInt32) {
        processes[process, default: Process()].dictionary.insert(entry, id: id)
    }

    /// Whether an event is selected.
    ///
    /// Call it for all events in the trace's order, because scopes begin before the events within them.
    mutating func selects(_ event: TraceEvent) -> Bool {
        if case .scope(let scope) = event.detail, scope.phase == .begin {
            let name = processes[event.process]?.dictionary.name(scope.name)
            processes[event.process, default: Process()].scopes[event.id] = (name, event.scope)
        }
        guard options.kind?.kinds.contains(event.kind) ?? true,
            event.duration >= options.minDuration?.nanoseconds ?? 0,
            event.end >= options.from?.nanoseconds ?? 0, event.start <= options.to?.nanoseconds ?? .max
        else { return false }
        let isSelected = Criterion.allCases.allSatisfy { meets($0, event) }
        isAnySelected = isAnySelected || isSelected
        return isSelected
    }

    /// A criterion that names something, which the trace may not have.
    private enum Criterion: CaseIterable {
        case entity, thread, scope, site
    }

    private mutating func meets(_ criterion: Criterion, _ event: TraceEvent) -> Bool {
        guard let words = words(criterion) else { return true }
        let process = processes[event.process] ?? Process()
        let isMet: Bool
        switch criterion {
        case .entity:
            isMet = event.detail.entities.contains { process.dictionary.entity($0)?.name == options.entity }
        case .thread: isMet = isOnThread(event, process.dictionary)
        case .scope: isMet = process.isWithin(options.scope ?? "", event)
        case .site: isMet = processes[event.process]?.site(of: event).map { options.site?.matches($0) == true } ?? false
        }
        if isMet { met.insert(words) }
        return isMet
    }

    private func isOnThread(_ event: TraceEvent, _ dictionary: TraceDictionary) -> Bool {
        if options.thread == "main" { return event.isMainThread }
        return options.thread == String(event.thread) || options.thread == dictionary.thread(event.thread)?.name
    }

    /// The words for a criterion, or `nil` if it was not given.
    private func words(_ criterion: Criterion) -> String? {
        switch criterion {
        case .entity: options.entity.map { "of an entity \"\($0)\"" }
        case .thread: options.thread.map { "on a thread \"\($0)\"" }
        case .scope: options.scope.map { "within a scope \"\($0)\"" }
        case .site: options.site.map { "at \($0.description)" }
        }
    }

    /// Sentences about criteria that no event met, or about all of them if no event met all.
    var remarks: [String] {
        if isAnySelected || options.isWhole { return [] }
        let unmet = Criterion.allCases.compactMap(words).filter { !met.contains($0) }
        return unmet.isEmpty ? ["The trace has no such event."] : unmet.map { "The trace has no event \($0)." }
    }
}
