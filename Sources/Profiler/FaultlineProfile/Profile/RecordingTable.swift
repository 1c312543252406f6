internal import FaultlineTrace

/// The traces that were merged: their number, duration and processes.
///
/// Up to ``keptProcesses`` processes are kept individually. Beyond that they are summed up by program, so ten thousand
/// hosts take no more space than ten.
struct RecordingTable: Sendable {
    static let keptProcesses = 64

    private(set) var count: UInt64 = 0
    /// The wall time of all traces, in nanoseconds.
    private(set) var wallTime: UInt64 = 0
    /// The number of traces whose findings were counted before they were merged.
    var examined: UInt64 = 0
    /// One number for each recording, which keeps a recording from being added twice.
    private(set) var identities: Set<UInt64> = []
    /// The individual processes, in any order.
    private var kept: [ProcessSummary] = []
    /// The other processes, by program.
    private var programs: [String: ProgramSummary] = [:]

    /// Adds the processes of one trace.
    mutating func add(_ trace: [ProcessSummary]) {
        guard let start = trace.map(\.start).min(), let end = trace.map(\.end).max() else { return }
        count &+= 1
        wallTime &+= end > start ? end - start : 0
        identities.insert(Self.identity(of: trace))
        keep(trace)
    }

    /// A number that identifies a recording, no matter how much of it was read.
    ///
    /// It is made from the process that started first. Traces of other tools do not have the start time, so they are
    /// identified by their contents.
    private static func identity(of trace: [ProcessSummary]) -> UInt64 {
        let first = trace.min { ($0.start, $0.process) < ($1.start, $1.process) }!
        var traits = [UInt64(first.process), first.date.bitPattern] + first.program.utf8.map(UInt64.init)
        if first.date == 0 {
            for process in trace {
                let counts = process.counts
                traits += [
                    process.start, process.end, counts.storeTime, counts.eventCount, counts.rowsLoaded,
                    counts.bytesRead,
                ]
            }
        }
        return traits.reduce(0) { StableHash.mix($0 ^ $1) }
    }

    mutating func merge(_ other: RecordingTable) {
        count &+= other.count
        wallTime &+= other.wallTime
        examined &+= other.examined
        identities.formUnion(other.identities)
        programs.merge(other.programs)
        keep(other.kept)
    }

    /// One recording with the means of all.
    var mean: RecordingTable {
        var mean = RecordingTable()
        let count = max(1, count)
        mean.count = 1
        mean.wallTime = wallTime / count
        mean.programs = allPrograms.mapValues { $0.mean(of: count) }
        return mean
    }

    /// The individual processes, in order of their start.
    var processes: [ProcessSummary] {
        kept.ordered { a, b in
            let (first, second) = ((a.start, a.process), (b.start, b.process))
            // Processes of different traces can have the same ID and the same times.
            return first == second ? a.text < b.text : first < second
        }
    }

    /// All processes, summed up by program.
    var allPrograms: [String: ProgramSummary] {
        var all = programs
        for process in kept { all[process.program, default: ProgramSummary()].add(process) }
        return all
    }

    private mutating func keep(_ more: [ProcessSummary]) {
        kept += more
        if !programs.isEmpty || kept.count > Self.keptProcesses {
            programs = allPrograms
            kept = []
        }
    }
}

extension ProcessSummary {
    /// All data of the process, in an order independent of the order of events.
    fileprivate var text: String {
        var words = ProfileWords()
        return (try? stored(&words).json()).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

// MARK: - In a profile file

extension RecordingTable {
    func stored(_ words: inout ProfileWords) -> StoredValue {
        .record([
            "count": StoredValue(count), "wallTime": StoredValue(wallTime), "examined": StoredValue(examined),
            "identities": .list(identities.sorted().map { .text(String($0, radix: 16)) }),
            "processes": .list(processes.map { $0.stored(&words) }), "programs": programs.stored(&words),
        ])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        count = try value.member("count") { try $0.count() }
        wallTime = try value.member("wallTime") { try $0.count() }
        examined = try value.member("examined") { try $0.optionalCount() ?? 0 }
        identities = Set(try value.member("identities") { try $0.map { UInt64(try $0.text(), radix: 16) ?? 0 } })
        try value.member("programs") { try programs.restore($0, words) }
        keep(try value.member("processes") { try $0.map { try ProcessSummary($0, words) } })
    }
}

extension ProcessSummary {
    /// The units of a date in one second: microseconds, the precision of a `Double` for dates of this century.
    private static let dateUnits = 1e6

    /// A date in microseconds; 0 for one that no recording has.
    private static func stored(date: Double) -> UInt64 {
        UInt64(exactly: (date * dateUnits).rounded()) ?? 0
    }

    fileprivate func stored(_ words: inout ProfileWords) -> StoredValue {
        var members: [String: StoredValue] = [
            "process": StoredValue(UInt64(process)), "program": .text(program), "start": StoredValue(start),
            "end": StoredValue(end), "threads": StoredValue(threads), "reportedLost": StoredValue(reportedLost),
            "counts": counts.stored(&words),
            "date": StoredValue(Self.stored(date: date)),
        ]
        if usesCoreData { members["usesCoreData"] = StoredValue(1) }
        if removed > 0 { members["removed"] = StoredValue(removed) }
        if !gaps.isEmpty { members["gaps"] = StoredValue(gaps.map(\.word).sorted()) }
        members["ended"] = ended.map { ended -> StoredValue in
            var end: [String: StoredValue] = [
                "end": StoredValue(ended.end), "events": StoredValue(ended.events), "lost": StoredValue(ended.lost),
                "unwritten": StoredValue(ended.unwritten), "entriesLost": StoredValue(ended.entriesLost),
                "usesLost": StoredValue(ended.usesLost), "writing": StoredValue(ended.writing),
                "isClosed": StoredValue(ended.isClosed), "isRunning": StoredValue(ended.isRunning ?? false),
            ]
            end["withoutRing"] = ended.withoutRing.map { StoredValue($0) }
            end["ringFailure"] = ended.ringFailure.map { .text($0) }
            return .record(end)
        }
        return .record(members)
    }

    fileprivate init(_ value: StoredValue, _ words: ProfileWords) throws {
        self.init(process: try value.member("process") { try UInt32($0, words) })
        program = try value.member("program") { try $0.text() }
        date = Double(try value.member("date") { try $0.count() }) / Self.dateUnits
        usesCoreData = try value.member("usesCoreData") { try $0.optionalFlag() ?? false }
        start = try value.member("start") { try $0.count() }
        end = try value.member("end") { try $0.count() }
        threads = try value.member("threads") { try $0.count() }
        reportedLost = try value.member("reportedLost") { try $0.count() }
        removed = try value.member("removed") { try $0.optionalCount() ?? 0 }
        try value.member("counts") { try counts.restore($0, words) }
        gaps = try value.member("gaps") { value in
            value == .none ? [] : Set(try value.texts().compactMap(TraceGap.init(word:)))
        }
        ended = try value.member("ended") { ended in
            guard ended != .none else { return nil }
            let number = { (name: String) in try ended.member(name) { try $0.count() } }
            let withoutRing = try ended.member("withoutRing") { try $0.optionalCount() }
            let failure = try ended.member("ringFailure") { try $0.optionalText() }
            return ProcessEnded(
                process: process, end: try number("end"), events: try number("events"), lost: try number("lost"),
                unwritten: try number("unwritten"), entriesLost: try number("entriesLost"),
                usesLost: try number("usesLost"), writing: try number("writing"),
                isClosed: try number("isClosed") != 0, isRunning: try number("isRunning") != 0 ? true : nil,
                withoutRing: withoutRing, ringFailure: failure)
        }
    }
}
