import FaultlineFindings
import FaultlineProfile
import FaultlineTrace

/// The names, scopes and call sites of one process, as its events are read.
struct ProcessNames {
    private(set) var dictionary = TraceDictionary()
    private var resolver: CallSiteResolver?
    private var scopes: [EventID: (name: String?, outer: EventID)] = [:]
    private var setupScopes = SetupScopes()

    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID) {
        dictionary.insert(entry, id: id)
        resolver = nil
    }

    /// Remembers a scope that begins.
    ///
    /// Call it for all events in the trace's order: scopes begin before the events within them.
    mutating func observe(_ event: TraceEvent) {
        setupScopes.observe(event)
        guard case .scope(let scope) = event.detail, scope.phase == .begin else { return }
        scopes[event.id] = (dictionary.name(scope.name), event.scope)
    }

    /// The name of the innermost scope around an event, or `nil` if there is none.
    func scope(around event: TraceEvent) -> String? { scopes[event.scope]?.name }

    /// Whether an event is within a scope of a name, at any depth, or is one itself.
    func isWithin(_ name: String, _ event: TraceEvent) -> Bool {
        var next = event.kind == .scope ? event.id : event.scope
        // In a damaged trace, scopes can be within each other.
        for _ in 0..<scopes.count {
            guard let scope = scopes[next] else { return false }
            if scope.name == name { return true }
            next = scope.outer
        }
        return false
    }

    /// Whether a finding rests on an event, whose process's scopes were observed.
    mutating func isEvent(_ event: TraceEvent, of basis: EventBasis) -> Bool {
        !setupScopes.contain(event) && basis.contains(event, at: sites(of: event), .init(of: event, in: dictionary))
    }

    mutating func site(of event: TraceEvent) -> CallSite? { resolving { $0.reportedSite(of: event) } }

    /// The lines of an event: the call that asked for it, and the one that triggered it.
    private mutating func sites(of event: TraceEvent) -> [CallSite?] {
        resolving { [$0.callSite(of: event), $0.stackSite(of: event)] }
    }

    private mutating func resolving<Result>(_ body: (inout CallSiteResolver) -> Result) -> Result {
        var resolver = self.resolver.take() ?? CallSiteResolver(dictionary: dictionary)
        defer { self.resolver = resolver }
        return body(&resolver)
    }
}
