internal import CRecorder
// Whoever marks a scope names its kind, which is a word of the trace.
@_exported public import FaultlineTrace

/// A scope that is open, as events and use summaries refer to it.
package struct RecordedScope: Sendable {
    /// The number of the scope's events.
    package let id: EventID
    /// The scope whose rows count as one window: this one, or around a scope of no special kind the nearest that has one.
    let window: EventID
    let windowKind: TraceEvent.Scope.Kind
    private let recorder: ObjectIdentifier

    @TaskLocal private static var current: RecordedScope?

    init(id: EventID, kind: TraceEvent.Scope.Kind, in outer: RecordedScope?, of recorder: Recorder) {
        self.id = id
        self.recorder = ObjectIdentifier(recorder)
        if kind == .other, let outer, outer.windowKind != .other {
            window = outer.window
            windowKind = outer.windowKind
        } else {
            window = id
            windowKind = kind
        }
    }

    /// The innermost scope that is open in this task, whatever its recorder: what a queue takes on with its work.
    package static var inherited: RecordedScope? { current }

    /// The innermost scope that is open in this task, if it belongs to that recorder.
    package static func current(of recorder: Recorder) -> RecordedScope? {
        guard let current, current.recorder == ObjectIdentifier(recorder) else { return nil }
        return current
    }

    /// Runs a body in a scope that was open where the work was asked for: how a context's queue takes it on.
    package static func with<Result>(_ scope: RecordedScope?, _ body: () throws -> Result) rethrows -> Result {
        guard let scope else { return try body() }
        return try $current.withValue(scope) { try body() }
    }

    static func withAsync<Result>(
        _ scope: RecordedScope, _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(scope) { try await body() }
    }
}

extension Recorder {
    /// Runs a body and marks what it does as belonging together.
    ///
    /// Rules judge what happens within one scope; ``TraceEvent/Scope/Kind/screen`` says that the rows touched in it are
    /// what a screen shows. Scopes nest, and a context's `perform` takes the scope on to its queue.
    ///
    /// While recording is off, this costs one relaxed load.
    ///
    /// - Parameters:
    ///   - name: What reports call it; a name that stays the same from one time to the next.
    ///   - kind: What kind of work it is; by default ``TraceEvent/Scope/Kind/other``.
    public func scope<Result>(
        _ name: String, kind: TraceEvent.Scope.Kind = .other, _ body: () throws -> Result
    ) rethrows -> Result {
        guard isEnabled, let open = openScope(name, kind) else { return try body() }
        defer { close(open) }
        return try RecordedScope.with(open.scope, body)
    }

    /// Runs an asynchronous body and marks what it does as belonging together, whatever thread it runs on.
    ///
    /// - Parameters:
    ///   - name: What reports call it; a name that stays the same from one time to the next.
    ///   - kind: What kind of work it is; by default ``TraceEvent/Scope/Kind/other``.
    public func scope<Result>(
        _ name: String, kind: TraceEvent.Scope.Kind = .other,
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        guard isEnabled, let open = openScope(name, kind) else { return try await body() }
        defer { close(open) }
        return try await RecordedScope.withAsync(open.scope, body)
    }

    private struct OpenScope {
        var scope: RecordedScope
        var outer: EventID
        var name: DictionaryID
        var kind: TraceEvent.Scope.Kind
        var start: UInt64
    }

    private func openScope(_ name: String, _ kind: TraceEvent.Scope.Kind) -> OpenScope? {
        guard let handle else { return nil }
        let outer = RecordedScope.current(of: self)
        let name = intern(.name(NameEntry(name: name)))
        var id: EventID = 0
        var start: UInt64 = 0
        fl_scope_mark(
            handle, name, kind.rawValue, TraceEvent.Scope.Phase.begin.rawValue, outer?.id ?? 0, &id, &start)
        guard id != 0 else { return nil }
        let scope = RecordedScope(id: id, kind: kind, in: outer, of: self)
        return OpenScope(scope: scope, outer: outer?.id ?? 0, name: name, kind: kind, start: start)
    }

    private func close(_ open: OpenScope) {
        guard let handle else { return }
        var id = open.scope.id
        var start = open.start
        fl_scope_mark(
            handle, open.name, open.kind.rawValue, TraceEvent.Scope.Phase.end.rawValue, open.outer, &id, &start)
    }
}

/// Marks what a program does, for the program's own recorder.
public enum Faultline {
    /// Runs a body and marks what it does as belonging together; see ``Recorder/scope(_:kind:_:)-(_,_,()->Result)``.
    public static func scope<Result>(
        _ name: String, kind: TraceEvent.Scope.Kind = .other, _ body: () throws -> Result
    ) rethrows -> Result {
        try Recorder.shared.scope(name, kind: kind, body)
    }

    /// Runs an asynchronous body and marks what it does as belonging together.
    public static func scope<Result>(
        _ name: String, kind: TraceEvent.Scope.Kind = .other,
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await Recorder.shared.scope(name, kind: kind, body)
    }
}
