package import FaultlineTrace

/// The scopes of one process that prepare something, and those within them.
///
/// Rules ignore what happens in them, so that no finding rests on it.
package struct SetupScopes: Sendable {
    private var scopes: Set<EventID> = []

    package init() {}

    /// Remembers a scope that begins.
    ///
    /// Call it for every event, in the order of the trace: a scope begins before the events within it.
    package mutating func observe(_ event: TraceEvent) {
        guard case .scope(let scope) = event.detail, scope.phase == .begin else { return }
        if scope.kind == .setup || scopes.contains(event.scope) { scopes.insert(event.id) }
    }

    /// Whether an event is within such a scope, at any depth.
    package func contain(_ event: TraceEvent) -> Bool { !scopes.isEmpty && scopes.contains(event.scope) }
}
