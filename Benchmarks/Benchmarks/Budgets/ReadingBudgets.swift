import CSQLitePeer
import FaultlineProfile
import FaultlineReader
import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Foundation

/// G19, G21 to G23 and G29: reading a trace or a log, and reporting it.
struct ReadingBudgets: BudgetGroup {
    static let numbers = ["G19", "G21", "G22", "G23", "G29"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        let budgets = ReadingBudgets()
        if options.wants("G19") { table.add(try budgets.reading().run(rounds: options.rounds)) }
        if options.wants("G21", "G22") { try budgets.reports(options.millions, into: &table) }
        if options.wants("G29") { table.add(try budgets.logs().run(rounds: options.rounds)) }
        guard options.wants("G23") else { return }
        table.add(
            "G23", "a percentile of a million values, worst error", count: budgets.worstPercentile(), atMost: 10,
            of: "‰")
    }

    /// Measures the memory and the time of a report of many events against one of fewer.
    private func reports(_ millions: Int, into table: inout BudgetTable) throws {
        let report = { (millions: Int) in try self.report(events: millions * 1_000_000) }
        // The first report fills the caches that all of them use.
        _ = try report(1)
        let (small, large) = (try report(1), try report(millions))
        let tenth = millions == 10 ? small : try report(millions / 10)
        let kibibytes = { (bytes: Int) in max(0, bytes / 1024) }
        table.add(
            "G21", "memory of a report: \(millions) million events more than 1 million",
            count: kibibytes(large.memory - small.memory), atMost: 4096, of: "KiB")
        table.add(
            "G21", "memory of a report: \(millions) million events", count: kibibytes(large.memory), atMost: 65_536,
            of: "KiB")
        table.add(
            "G22", "report time per event: \(millions) million events vs. \(millions / 10) million",
            count: Int((large.time / tenth.time * 100).rounded()), atMost: 110, of: "%")
        let times =
            "\(Int(tenth.time)) ns with \(millions / 10) million, \(Int(large.time)) ns with \(millions) million"
        table.note("report time per event: \(times)")
    }

    /// A recorded trace of about ten thousand events.
    private static let trace = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Traces/music-library/trace.json")

    /// The keys of every line of a timeline, as a program that knows the format would decode them.
    private struct Line: Decodable {
        struct Arguments: Decodable {
            var id: UInt64?
            var parent: UInt64?
            var context: UInt64?
            var scope: UInt64?
            var site: UInt64?
            var stack: UInt64?
            var main: Bool?
            var entity: UInt64?
            var rows: UInt64?
            var bytes: UInt64?
            var trips: UInt64?
        }

        var name: String
        var ph: String
        var pid: UInt32
        var tid: UInt32
        var ts: Double?
        var dur: Double?
        var args: Arguments?
    }

    /// A timeline of about fifty thousand lines: the trace's events five times, and its dictionary once, as in a
    /// longer run of the same program.
    private static func writeLongTrace(to path: String) throws {
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n").dropFirst().dropLast()
            .map { $0.hasSuffix(",") ? $0.dropLast() : $0 }
        let names = lines.filter { $0.contains("\"ph\":\"M\"") }
        let events = lines.filter { !$0.contains("\"ph\":\"M\"") }
        let all = names + (0..<5).flatMap { _ in events }
        try ("[\n" + all.joined(separator: ",\n") + "\n]\n").write(toFile: path, atomically: false, encoding: .utf8)
    }

    /// Compares reading a timeline, including the dictionary, with decoding the same bytes.
    func reading() throws -> Comparison {
        let folder = try ScratchFolder()
        let name = "trace.json"
        try Self.writeLongTrace(to: folder.path(name))
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
        let lines = data.count { $0 == UInt8(ascii: "\n") }
        return Comparison(
            name: "read a timeline", operations: lines,
            arms: [
                Arm("JSONDecoder") { try cpuTime { blackHole(try JSONDecoder().decode([Line].self, from: data)) } },
                Self.reader("reader", of: name, in: folder),
                Arm("report") {
                    try cpuTime {
                        var builder = ProfileBuilder()
                        try TraceReader(path: folder.path(name)).read { builder.add($0) }
                        blackHole(TextReport(Analysis(builder.finish())).render())
                    }
                },
            ],
            budgets: [
                Budget("G19", "reader", against: "JSONDecoder", atMost: 1.0 / 12),
                Budget("report", "report", against: "reader", atMost: 4.5),
            ])
    }

    /// An arm that reads a file.
    private static func reader(_ name: String, of file: String, in folder: ScratchFolder) -> Arm {
        Arm(name) {
            try cpuTime {
                var count = 0
                try TraceReader(path: folder.path(file)).read { _ in count &+= 1 }
                blackHole(count)
            }
        }
    }

    /// Compares reading a log of Core Data with reading a timeline of the same length.
    func logs() throws -> Comparison {
        let folder = try ScratchFolder()
        let (timeline, log) = ("trace.json", "core-data.log")
        try Self.writeLongTrace(to: folder.path(timeline))
        let length = try Data(contentsOf: URL(fileURLWithPath: folder.path(timeline))).count
        var (text, number) = ("", 0)
        while text.utf8.count < length {
            let seconds = String(number / 1000 % 60 + 100).dropFirst()
            let mark = "2024-01-01 10:00:\(seconds).\(number % 1000 + 100) App[4711:1f2e] CoreData: "
            for line in [
                "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0 WHERE  t0.ZKEY = ? ",
                "details: SQLite bind[0] = \"id-\(number)\"", "annotation: sql connection fetch time: 0.0010s",
                "annotation: total fetch execution time: 0.0012s for 1 rows.",
            ] { text += mark + line + "\n" }
            number += 1
        }
        try text.write(toFile: folder.path(log), atomically: false, encoding: .utf8)
        return Comparison(
            name: "read a kilobyte", operations: length / 1000,
            arms: [
                Self.reader("timeline", of: timeline, in: folder), Self.reader("Core Data log", of: log, in: folder),
            ],
            budgets: [Budget("G29", "Core Data log", against: "timeline", atMost: 4)])
    }

    /// The cost of a report: the additional memory in bytes, and the time per event in nanoseconds.
    struct Size {
        var memory: Int
        var time: Double
    }

    /// Measures a report of many events: the trace's events repeated, each time with new IDs.
    func report(events count: Int) throws -> Size {
        var before: [TraceMessage] = []
        var events: [TraceEvent] = []
        try TraceReader(path: Self.trace.path).read { message in
            if case .event(let event) = message { events.append(event) } else { before.append(message) }
        }
        let most = events.map(\.id).max() ?? 1
        let span = (events.map(\.end).max() ?? 0) + 1_000_000
        var builder = ProfileBuilder()
        for message in before { builder.add(message) }
        let start = Self.memory()
        var done = 0
        let time = cpuTime {
            var round: UInt64 = 0
            while done < count {
                for event in events.prefix(count - done) {
                    builder.add(.event(event.moved(by: round * (most + 1), later: round * span)))
                }
                done += events.count
                round += 1
            }
            let analysis = Analysis(builder.finish())
            blackHole(TextReport(analysis).render())
        }
        return Size(memory: Self.memory() - start, time: time / Double(count))
    }

    /// Returns the largest error of a percentile of a million values that were counted in parts and merged in any
    /// order, in thousandths of the exact value.
    func worstPercentile() -> Int {
        var worst = 0.0
        for seed in 0..<4 as Range<UInt64> {
            var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
            let values = (0..<1_000_000).map { _ -> UInt64 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                // From a hundred nanoseconds to a hundred milliseconds, uniformly by order of magnitude.
                return UInt64(pow(10, 2 + 6 * Double(state >> 11) / Double(1 << 53)))
            }
            var parts = stride(from: 0, to: values.count, by: 10_007).map { start in
                var part = Distribution()
                for value in values[start..<min(start + 10_007, values.count)] { part.record(value) }
                return part
            }
            if seed % 2 == 1 { parts.reverse() }
            var all = Distribution()
            for part in parts { all.merge(part) }
            let sorted = values.sorted()
            for percent in [1, 10, 50, 90, 95, 99, 99.9, 99.99] {
                let exact = Double(sorted[max(0, Int((percent / 100 * Double(sorted.count)).rounded(.up)) - 1)])
                worst = max(worst, abs(Double(all.percentile(percent)) - exact) / exact)
            }
        }
        return Int((worst * 1000).rounded(.up))
    }

    /// The resident memory of the process, in bytes.
    private static func memory() -> Int {
        peer_trim_memory()
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}

extension TraceEvent {
    /// Returns the event at another place in a longer trace, with all event IDs and times shifted.
    fileprivate func moved(by ids: EventID, later time: UInt64) -> TraceEvent {
        let move = { (id: EventID) in id == 0 ? 0 : id &+ ids }
        var detail = self.detail
        switch detail {
        case .batch(var batch):
            batch.fetch = move(batch.fetch)
            detail = .batch(batch)
        case .fault(var fault):
            fault.origin = move(fault.origin)
            detail = .fault(fault)
        case .cacheMiss(var miss):
            miss.fault = move(miss.fault)
            detail = .cacheMiss(miss)
        case .use(var use):
            use.fetch = move(use.fetch)
            detail = .use(use)
        default: break
        }
        return TraceEvent(
            id: move(id), parent: move(parent), scope: move(scope), start: start &+ time, duration: duration,
            thread: thread, isMainThread: isMainThread, process: process, context: context, site: site, stack: stack,
            overhead: overhead, detail)
    }
}
