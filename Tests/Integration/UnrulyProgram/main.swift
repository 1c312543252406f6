// A program that records, and does what programs may do and a guest in them must survive.

import Foundation
import Synchronization

@testable import FaultlineRecorder
@testable import FaultlineTrace

let arguments = Array(CommandLine.arguments.dropFirst())
// Whoever started this program waits for the last holder of a socket that it gave it; a child must not be that.
if ["leaves-a-child", "lingers"].contains(arguments.first) { closeDescriptors(from: 3) }
let recorder = Recorder.shared

func record(_ count: Int) {
    for _ in 0..<count {
        guard let open = recorder.begin() else { return }
        recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0)
    }
}

/// Records on a thread of its own, which needs a ring of its own, while this one holds its own.
func recordElsewhere(_ count: Int, name: String = "elsewhere") {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        record(count)
        done.signal()
    }
    thread.name = name
    thread.start()
    done.wait()
}

/// `fork`, which Swift hides because most programs must not call it.
func forkAnyway() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    return unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)()
}

/// `closefrom`, which Swift does not see.
func closeDescriptors(from lowest: Int32) {
    typealias CloseFrom = @convention(c) (Int32) -> Void
    unsafeBitCast(dlsym(nil, "closefrom"), to: CloseFrom.self)(lowest)
}

func wait(for child: pid_t) {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    if status != 0 { print("the child ended with \(status)") }
}

switch arguments.first {
case "records":
    record(Int(arguments[1])!)
    print("done")

case "descriptors":
    // How many more files it may open.
    record(1)
    var count = 0
    while open("/dev/null", O_RDONLY) >= 0 { count += 1 }
    print(count)

case "many-threads":
    // All of them are there at once, more than there are rings.
    let (count, events) = (Int(arguments[1])!, Int(arguments[2])!)
    let (begun, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let mayEnd = DispatchSemaphore(value: 0)
    for _ in 0..<count {
        let thread = Thread {
            record(events)
            begun.signal()
            mayEnd.wait()
            done.signal()
        }
        thread.stackSize = 64 << 10
        thread.start()
    }
    for _ in 0..<count { begun.wait() }
    for _ in 0..<count { mayEnd.signal() }
    for _ in 0..<count { done.wait() }

case "lingers":
    // Records, says so by a file, and runs on until there is another.
    record(5)
    _ = FileManager.default.createFile(atPath: arguments[1], contents: nil)
    while !FileManager.default.fileExists(atPath: arguments[2]) { usleep(1000) }

case "closes-descriptors":
    // Like a daemon: the directory is left, every descriptor that is not known is closed, and the numbers are used
    // again, the highest that recording has at first among them.
    record(10)
    chdir("/")
    closeDescriptors(from: 3)
    var files: [Int32] = []
    for number in 0..<600 {
        let file = open("\(arguments[1])/mine-\(number)", O_RDWR | O_CREAT | O_EXCL, 0o600)
        let text = "mine \(number)\n"
        write(file, text, text.utf8.count)
        files.append(file)
    }
    print("descriptors \(files.min()!) to \(files.max()!)")
    recordElsewhere(20)
    record(30)
    recorder.close()
    for file in files where fcntl(file, F_GETFD) < 0 { print("\(file) was closed") }

case "shows-descriptors":
    // Called with some of the first three closed.
    record(1)
    recordElsewhere(1)
    var open: [String] = []
    for descriptor in [Int32(0), 1, 2] where fcntl(descriptor, F_GETFD) >= 0 { open.append("\(descriptor)") }
    try open.joined(separator: " ").write(toFile: arguments[1], atomically: true, encoding: .utf8)

case "forks":
    // The child records, ends an event and a scope that its parent began, and passes exit.
    record(5)
    let use = recorder.openUse(fetch: 1, entity: 0, shape: 0, batchSize: 0, rows: 10)
    use?.touch(row: 0)
    let open = recorder.begin()
    let child = forkAnyway()
    if child == 0 {
        record(100)
        use?.touch(row: 1)
        if let use { FetchUse.read(property: 3, row: 1, in: use.slot) }
        if let open { recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0) }
        _ = recorder.intern(.name(NameEntry(name: "a child's")))
        _ = recorder.openUse(fetch: 2, entity: 0, shape: 0, batchSize: 0, rows: 10)
        exit(0)
    }
    wait(for: child)
    if let open { recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0) }
    _ = recorder.intern(.name(NameEntry(name: "the parent's")))
    use?.touch(row: 2)
    record(5)

case "leaves-a-child":
    // The child lives until it is told to end; the parent is killed.
    record(7)
    let child = forkAnyway()
    if child == 0 {
        while !FileManager.default.fileExists(atPath: arguments[1]) { usleep(1000) }
        exit(0)
    }
    print(child)
    fflush(nil)
    kill(getpid(), SIGKILL)

case "is-killed":
    record(Int(arguments[1])!)
    kill(getpid(), SIGKILL)

case "becomes-another":
    // One process number, two programs.
    record(3)
    var words = [CommandLine.arguments[0], "records", "4"].map { (word: String) in strdup(word) } + [nil]
    execv(words[0]!, &words)
    print("exec failed")

case "starts-many":
    // One after the other, each ended before the next begins.
    let directory =
        recorder.isEnabled ? String(ProcessInfo.processInfo.environment["FAULTLINE_TRACE"]!.dropFirst(6)) : ""
    var most = 0
    for _ in 0..<Int(arguments[1])! {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["records", "2"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let rings =
            (try? FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".rings") }) ?? []
        most = max(most, rings.count)
    }
    print("most rings: \(most)")

case "blocks-signals":
    // Signals that wait for delivery to the program are still there afterward.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    raise(SIGPIPE)
    StandardError.write("a sentence\n")
    var pending = sigset_t()
    sigpending(&pending)
    print(sigismember(&pending, SIGPIPE) == 1 ? "still pending" : "swallowed")

default:
    print("unknown: \(arguments)")
    exit(64)
}
