internal import CRecorder
// Callers of `scope` name its kind, which the trace module defines.
@_exported public import FaultlineTrace

/// An open scope, as events and use summaries refer to it.
package struct RecordedScope: Sendable {
    /// The number of the scope's events.
    package let id: EventID
    /// The scope whose rows count as one window: this one, or, for a scope of kind `other`, the nearest enclosing one
    /// of another kind.
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

    /// The innermost scope that is open in this task, whatever its recorder; queues inherit it with their work.
    package static var inherited: RecordedScope? { current }

    /// The innermost scope that is open in this task, if it belongs to that recorder.
    package static func current(of recorder: Recorder) -> RecordedScope? {
        guard let current, current.recorder == ObjectIdentifier(recorder) else { return nil }
        return current
    }

    /// Runs a body in the scope that was open where the work was submitted, which is how a context's queue inherits
    /// it.
    package static func with<Result>(
        _ scope: RecordedScope?, of recorder: Recorder, _ body: () throws -> Result
    ) rethrows -> Result {
        guard let scope else { return try body() }
        guard let handle = recorder.handle, recorder.isEnabled, let onThread = scope.onThread(of: recorder) else {
            return try $current.withValue(scope) { try body() }
        }
        let outer = fl_enter_scope(handle, onThread)
        defer { fl_leave_scope(handle, outer) }
        return try $current.withValue(scope) { try body() }
    }

    /// The form in which a recorder remembers the scope of a thread; `nil` if the scope is another recorder's.
    fileprivate func onThread(of recorder: Recorder) -> fl_thread_scope? {
        guard self.recorder == ObjectIdentifier(recorder) else { return nil }
        return fl_thread_scope(id: id, window: window, window_kind: Int32(windowKind.rawValue))
    }

    static func withAsync<Result>(
        _ scope: RecordedScope, _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(scope) { try await body() }
    }
}

extension Recorder {
    /// Tells the recorder which scope is open on this thread, if a task may have brought another one.
    ///
    /// - Complexity: One relaxed load, unless the program has opened a scope in a task. Then about 20 ns.
    @inline(__always)
    func followTask() {
        guard fl_switch_follows_tasks(state), let handle else { return }
        _ = fl_enter_scope(handle, RecordedScope.current(of: self)?.onThread(of: self) ?? fl_thread_scope())
    }

    /// Runs a body and groups its events in a scope.
    ///
    /// Rules judge the events within one scope; `screen` means that the rows touched in it are
    /// the ones that a screen shows. Scopes nest, and a context's `perform` carries the scope to its queue.
    ///
    /// While recording is off, this costs one relaxed load.
    ///
    /// - Parameters:
    ///   - name: The name in reports, which should be the same on every run.
    ///   - kind: The kind of work; by default `other`.
    ///   - body: The work.
    public func scope<Result>(
        _ name: String, kind: TraceEvent.Scope.Kind = .other, _ body: () throws -> Result
    ) rethrows -> Result {
        guard isEnabled, let open = openScope(name, kind) else { return try body() }
        defer { close(open) }
        return try RecordedScope.with(open.scope, of: self, body)
    }

    /// Runs an asynchronous body and groups its events in a scope, whatever threads it runs on.
    ///
    /// - Parameters:
    ///   - name: The name in reports, which should be the same on every run.
    ///   - kind: The kind of work; by default `other`.
    ///   - body: The work.
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
        // Asking for the task takes too long for each hit.
        if withUnsafeCurrentTask(body: { $0 != nil }) { fl_follow_tasks(handle) }
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

/// Marks scopes for the program's own recorder.
public enum Faultline {
    /// Runs a body and groups its events in a scope; see `Recorder.scope(_:kind:_:)`.
    public static func scope<Result>(
        _ name: String, kind: TraceEvent.Scope.Kind = .other, _ body: () throws -> Result
    ) rethrows -> Result {
        try Recorder.shared.scope(name, kind: kind, body)
    }

    /// Runs an asynchronous body and groups its events in a scope.
    public static func scope<Result>(
        _ name: String, kind: TraceEvent.Scope.Kind = .other,
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await Recorder.shared.scope(name, kind: kind, body)
    }
}
