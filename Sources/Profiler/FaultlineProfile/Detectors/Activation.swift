internal import FaultlineTrace

/// The call of a function in which a program repeated a statement, as far as the recorder could distinguish calls.
///
/// A statement that one call repeats is a loop, however long the program waits in between. The call of a server or of a test
/// runner is not a loop: its repetitions belong to other requests or tests, even if those are not scopes.
package struct Activation: Sendable, Hashable {
    /// The call's number on its thread; 0 if no call that was active before still is.
    package var number: UInt32
    /// The task of an event loop for which the thread ran the statement, by its number there; 0 if there is none.
    package var task: UInt32
    /// The number of Python functions around it.
    package var depth: Int
    /// Whether the statement belongs to another request, test or job than before.
    package var beginsWork: Bool

    /// The calls of a thread that have different numbers.
    ///
    /// A recorded number is the sum of the call's number and this many times the task's.
    static let calls: UInt32 = 1 << 25
}

/// A function on a stack.
struct StackPlace: Sendable, Hashable {
    var stack: DictionaryID
    /// 1 is the innermost Python function.
    var level: UInt32
}

extension Activation {
    /// The call of the function at a level of a stack, without its number; `nil` if it runs the work of several tasks in turn.
    init?(_ functions: [FrameEntry], level: Int) {
        let names = functions.flatMap { frame in frame.locations.map { ($0.file, $0.function) } }
        guard names.count == functions.count, level <= functions.count + 1 else { return nil }
        // One more than the number of functions stands for none of them.
        let (file, function) = level <= functions.count ? names[level - 1] : ("", "")
        if Self.tasks.contains(where: { file.hasSuffix($0.file) && function.hasSuffix($0.function) }) { return nil }
        (number, task, depth) = (0, 0, functions.count - level)
        beginsWork = Self.runners.contains { file.contains($0) }
    }

    /// Loops of servers, test runners and workers.
    private static let runners = [
        "/socketserver.py", "/wsgiref/", "/http/server.py", "/gunicorn/", "/werkzeug/serving.py", "/waitress/",
        "/cheroot/", "/_pytest/", "/pluggy/", "/unittest/", "/django/test/runner.py", "/celery/", "/huey/", "/rq/",
    ]

    /// Loops that run the steps of several tasks in turn, or what several callers ask of one thread.
    private static let tasks: [(file: String, function: String)] = [
        ("/asyncio/base_events.py", "_run_once"), ("/asyncio/base_events.py", "run_forever"),
        ("/asyncio/events.py", "Handle._run"), ("/concurrent/futures/thread.py", "_worker"),
        ("/concurrent/futures/thread.py", "_WorkItem.run"), ("/threading.py", "run"),
        ("/threading.py", "_bootstrap"), ("/threading.py", "_bootstrap_inner"),
        ("/aiosqlite/core.py", "_connection_worker_thread"), ("/aiosqlite/core.py", "Connection.run"),
    ]
}
