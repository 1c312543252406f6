import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile

@Suite("The scopes that prepare something")
struct SetupScopesTests {
    private func scope(_ id: EventID, _ kind: TraceEvent.Scope.Kind, within outer: EventID = 0) -> TraceEvent {
        var scope = TraceEvent.Scope()
        (scope.kind, scope.phase) = (kind, .begin)
        var event = TraceEvent(start: 1, duration: 0, thread: 1, process: 1, .scope(scope))
        (event.id, event.scope) = (id, outer)
        return event
    }

    private func fetch(within scope: EventID) -> TraceEvent {
        var event = TraceEvent(start: 2, duration: 5, thread: 1, process: 1, .fetch(TraceEvent.Fetch()))
        event.scope = scope
        return event
    }

    @Test func `contain what happens in them, at any depth, and nothing else`() {
        var scopes = SetupScopes()
        for event in [scope(1, .setup), scope(2, .other, within: 1), scope(3, .screen)] { scopes.observe(event) }
        #expect(scopes.contain(fetch(within: 1)) && scopes.contain(fetch(within: 2)))
        #expect(!scopes.contain(fetch(within: 3)) && !scopes.contain(fetch(within: 0)))
        #expect(scopes.contain(scope(2, .other, within: 1)) && !scopes.contain(scope(1, .setup)))
    }
}
