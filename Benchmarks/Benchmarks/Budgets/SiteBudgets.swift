import FaultlineRecorder
import FaultlineStore
import Foundation
import RecorderLoops

/// G1, G2 and G6, which are counts: the instructions of instrumentation that is off, and the files that are opened for the
/// sake of symbols.
struct SiteBudgets: BudgetGroup {
    static let numbers = ["G1", "G2", "G6"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        if options.wants("G1") { try measureSite(into: &table) }
        if options.wants("G2") { try measureFetch(options.uninstrumented, into: &table) }
        if options.wants("G6") {
            table.add("G6", "symbols while recording", count: try filesOfCode(), atMost: 0, of: "files opened")
        }
    }

    // MARK: - Instructions

    private static func measureSite(into table: inout BudgetTable) throws {
        let rounds = 100_000
        let site = try instructions("sites", rounds) - instructions("empty", rounds)
        table.add("G1", "off: a site", count: Int((site / Double(rounds)).rounded()), atMost: 6, of: "instructions")
    }

    private static func measureFetch(_ uninstrumented: String?, into table: inout BudgetTable) throws {
        guard let uninstrumented else {
            table.note("G2 was not measured: it needs this program without instrumentation, --uninstrumented PATH")
            return
        }
        let fetches = 2000
        let own = try instructions("fetches", fetches)
        let without = try instructions("fetches", fetches, of: uninstrumented)
        table.add(
            "G2", "off: a cached fetch of one object", "built without instrumentation", ratio: own / without,
            atMost: 1.005)
        let each = { (all: Double) in Int((all / Double(fetches)).rounded()) }
        table.note("a cached fetch of one object: \(each(own)) instructions, \(each(without)) without instrumentation")
    }

    /// Returns the number of instructions that some work takes, without those of starting: the difference between twice the
    /// work and once the work.
    private static func instructions(_ work: String, _ count: Int, of program: String? = nil) throws -> Double {
        let folder = try ScratchFolder()
        let stripped = folder.path("Budgets")
        var command = try ChildWork.command(work)
        // valgrind 3.19 gives up on Swift's debug information.
        _ = try Child.run(["strip", "--strip-debug", "-o", stripped, program ?? command[0]])
        command[0] = stripped
        func total(_ count: Int) throws -> Double {
            let output = try Child.run(
                ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + command + ["\(count)"],
                environment: ["SWIFT_DETERMINISTIC_HASHING": "1"], reads: .errors)
            guard let line = output.split(separator: "\n").last(where: { $0.contains("Collected : ") }),
                let total = Double(line.split(separator: " ").last ?? "")
            else { throw BudgetError("valgrind did not print how many instructions \"\(work)\" took.") }
            return total
        }
        return try total(2 * count) - total(count)
    }

    /// Fetches single objects whose rows are cached, without recording.
    static func fetch(_ count: Int) throws {
        let store = try PeopleStore(count: 100, keepsRows: true)
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            let requests = try context.fetch(FetchRequest<Person>()).map { person in
                FetchRequest<Person>(predicate: try FetchPredicate(format: "SELF == %@", person))
            }
            for number in 0..<count { blackHole(try context.fetch(requests[number % requests.count]).count) }
        }
    }

    // MARK: - Symbols

    private static let (begin, end) = ("/faultline-recording-begins", "/faultline-recording-ends")

    /// Records events with stacks between two marks in the list of opened files.
    static func record(to path: String) throws {
        let recorder = try Recorder.writing(to: .timeline(path: path))
        blackHole(FileManager.default.contents(atPath: begin))
        RecorderLoops(recorder).events(10_000, hasStack: true)
        let store = try PeopleStore(count: 100, recorder: recorder)
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            for person in try context.fetch(FetchRequest<Person>()) { blackHole(person.age) }
        }
        recorder.close()
        blackHole(FileManager.default.contents(atPath: end))
    }

    /// Returns the number of times that recording opened a file of machine code.
    private static func filesOfCode() throws -> Int {
        let folder = try ScratchFolder()
        let log = folder.path("opened")
        _ = try Child.run(
            ["strace", "--follow-forks", "--trace=open,openat,openat2", "--output=\(log)"]
                + ChildWork.command("record", folder.path("trace.json")))
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        guard let first = lines.firstIndex(where: { $0.contains(begin) }),
            let last = lines.firstIndex(where: { $0.contains(end) })
        else { throw BudgetError("strace did not see the recording.") }
        return lines[first..<last].count { line in
            let parts = line.split(separator: "\"")
            guard parts.count > 2, let file = FileHandle(forReadingAtPath: String(parts[1])) else { return false }
            return (try? file.read(upToCount: 4)) == Data([0x7F, 0x45, 0x4C, 0x46])
        }
    }
}
