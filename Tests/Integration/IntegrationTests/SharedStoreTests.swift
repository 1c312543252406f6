import Foundation
import Testing

/// The built program that saves.
private enum StoreProgram {
    static let path = BuiltCommand.programs.appendingPathComponent("StoreProgram").path

    static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningCommand {
        try RunningCommand(path, arguments, environment: environment)
    }

    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> BuiltCommand.Result {
        try start(arguments, environment: environment).finish()
    }
}

@Suite("A store used by several processes", .timeLimit(.minutes(10)))
struct SharedStoreTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("parts.sqlite")
        let prepared = try StoreProgram.run([store, "prepare"])
        try #require(prepared.status == 0, "\(prepared.errors)")
    }

    private func photo(_ number: Int) -> Int { number % 251 * 10_000 + 3000 + number % 1000 }

    @Test("contains one complete save, whenever the saving process is killed")
    func killed() throws {
        var last = 0
        for attempt in 0..<100 {
            // From the first steps of the first save to several saves later.
            let moment = 200 + Int.random(in: 0..<400) * (attempt % 10 + 1) * 50
            let ended = try StoreProgram.run([store, "save", "\(moment)"])
            #expect(ended.wasKilled, "\(ended.errors)")
            let told = ended.output.split(separator: "\n").compactMap { Int($0) }.last ?? last
            let checked = try StoreProgram.run([store, "check"])
            #expect(checked.status == 0, "\(checked.errors)")
            let lines = checked.output.split(separator: "\n").map(String.init)
            // One more save can be complete before its line was printed.
            let number = lines.contains("boxes [\(told + 1)] parts [5]") ? told + 1 : told
            #expect(
                lines == [
                    "loose 20 amounts [\(number)]", "photos [\(photo(number))]", "boxes [\(number)] parts [5]",
                ], "after attempt \(attempt), at \(moment) µs, with \(told) told")
            last = number
        }
        #expect(last > 0, "some saves were whole")
        // Each of the twenty parts has a file; files of killed saves were removed when the store was reopened.
        let folder = directory.path(".parts_SUPPORT")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/_EXTERNAL_DATA").count == 20)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["_EXTERNAL_DATA"])
    }

    @Test("gets the work after a migration done once, whenever the program that does it is killed")
    func postProcessing() throws {
        var interrupted = 0
        for attempt in 0..<12 {
            let store = directory.path("\(attempt).sqlite")
            try #require(StoreProgram.run([store, "prepare", "300"]).status == 0)
            var position = 0
            for _ in 0..<6 {
                let ended = try StoreProgram.run([store, "process", "\(Int.random(in: 5_000..<200_000))"])
                let told = ended.output.split(separator: "\n").compactMap { Int($0) }
                // No batch is done again, unless its line was not printed.
                if let first = told.first { #expect(first >= position) }
                position = told.last.map { $0 + 10 } ?? position
                if ended.wasKilled, position > 0 { interrupted += 1 }
            }
            let done = try StoreProgram.run([store, "process", "0"])
            #expect(done.status == 0 && done.output.hasSuffix("done 305\n"), "\(done.errors)")
            let values = try BuiltCommand.run(
                [store, "SELECT COUNT(*), COUNT(ZWEIGHT), SUM(ZAMOUNT), MIN(ZAMOUNT), MAX(ZAMOUNT) FROM ZPART"],
                program: "/usr/bin/sqlite3")
            #expect(values.output == "305|305|305000|1000|1000\n")
            // The mark keeps another start from doing it again.
            #expect(try StoreProgram.run([store, "process", "0"]).output == "done 305\n")
        }
        #expect(interrupted > 0)
    }

    @Test("counts every change of every process once, and assigns no key twice")
    func counting() throws {
        let running = try (0..<4).map { _ in try StoreProgram.start([store, "count", "25"]) }
        for process in running {
            let ended = process.finish()
            #expect(ended.status == 0, "\(ended.errors)")
        }
        let checked = try StoreProgram.run([store, "check"])
        #expect(checked.output.hasPrefix("loose 120 "), "\(checked.output) \(checked.errors)")
        // The first part by name; all other original parts have 0, and so do the new ones.
        #expect(checked.output.contains("amounts [0, 100]"), "\(checked.output)")
    }

    @Test("records which process held the lock that a save timed out waiting for")
    func holder() throws {
        let holder = try StoreProgram.start([store, "hold"])
        defer {
            kill(holder.identifier, SIGKILL)
            _ = holder.finish()
        }
        while holder.output != "held\n" { sched_yield() }
        let trace = directory.path("trace.json")
        let ended = try StoreProgram.run([store, "change"], environment: ["FAULTLINE_TRACE": "timeline:\(trace)"])
        #expect(ended.output == "busy\n", "\(ended.errors)")
        let events = try BuiltCommand.run(["events", trace, "--kind", "wait"])
        let lines = events.output.split(separator: "\n").filter { $0.contains("  wait ") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("sqlite of process \(holder.identifier) ") == true, "\(events.output)")
        #expect(lines.first?.contains("failed") == true)
        #expect(lines.first?.contains("main.swift:") == true)
    }
}
