internal import FaultlineTrace

/// Distinct values, numbered in the order of their first occurrence.
struct Interned<Value: Hashable> {
    private(set) var values: [Value]
    private var numbers: [Value: Int]

    /// - Parameter first: The value of number 0, which stands for none.
    init(_ first: Value) {
        values = [first]
        numbers = [first: 0]
    }

    mutating func number(of value: Value) -> Int {
        if let known = numbers[value] { return known }
        numbers[value] = values.count
        values.append(value)
        return values.count - 1
    }
}

/// The tables to which the rows of a page refer by number, with 0 for none.
struct PageTables {
    /// A line of the program.
    struct Site: Hashable {
        var file = ""
        var line = 0
        var function = ""

        /// The line as a report prints it: `List.swift:42`.
        var text: String { CallSite(file: file, line: line, function: function).description }
    }

    /// A thread of a process.
    struct Thread: Hashable {
        var process: UInt32 = 0
        var thread: UInt32 = 0
    }

    /// A step of a call path: a frame, and the path of its callers.
    private struct Step: Hashable {
        var callers: Int
        var frame: Int
    }

    var strings = Interned("")
    private(set) var sites = Interned(Site())
    private(set) var threads = Interned(Thread())
    /// The threads of which an event says that it is the main thread: not all events know.
    private(set) var mainThreads: Set<Thread> = []
    private(set) var frames = Interned(CallPaths.Frame(function: CodeFunction(name: ""), line: 0))
    private var steps = Interned(Step(callers: 0, frame: 0))

    mutating func site(_ site: CallSite?) -> Int {
        site.map { sites.number(of: Site(file: $0.file, line: $0.line, function: $0.function)) } ?? 0
    }

    mutating func thread(of event: TraceEvent) -> Int {
        let thread = Thread(process: event.process, thread: event.thread)
        if event.isMainThread { mainThreads.insert(thread) }
        return threads.number(of: thread)
    }

    /// The number of a call path.
    ///
    /// Paths that begin alike share their steps, so that thousands of them take little room.
    ///
    /// - Parameter path: Its frames, innermost first.
    mutating func path(_ path: [CallPaths.Frame]) -> Int {
        path.reversed().reduce(0) { steps.number(of: Step(callers: $0, frame: frames.number(of: $1))) }
    }

    /// The callers of each step, as numbers of steps.
    var callers: [UInt64] { steps.values.map { UInt64($0.callers) } }
    /// The frame of each step.
    var stepFrames: [UInt64] { steps.values.map { UInt64($0.frame) } }
}
