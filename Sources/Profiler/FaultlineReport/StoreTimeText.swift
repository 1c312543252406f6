internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The section of a report that shows where the store's time went.
struct StoreTimeText {
    let analysis: Analysis

    private struct Part {
        var name: String
        var kind: EventKind
        var count: UInt64 = 0
        /// `nil` if the rows are not counted separately.
        var rows: UInt64? = 0
        var trips: UInt64 = 0
        var time: UInt64 = 0
        /// The number of events without a row count, or without a duration, in the trace.
        var uncounted: UInt64 = 0
        var untimed: UInt64 = 0
        var isUntimed: Bool { untimed > 0 && untimed == count }
    }

    /// The store's time and work in one line, or `nil` if it did nothing.
    ///
    ///     store: 35.0 ms, 66 % of the recorded time; 407 trips; 19,681 rows and 942 KiB read
    var summary: String? {
        let totals = analysis.profile.totals
        guard parts.contains(where: { $0.count > 0 }) else { return nil }
        let trips = parts.reduce(0) { $0 &+ $1.trips }
        var read: [String] = []
        if !analysis.profile.allProcesses.lacks(.rows) { read.append(Phrase.count(totals.rowsLoaded, "row")) }
        if totals.bytesRead > 0 { read.append(Phrase.size(Double(totals.bytesRead))) }
        let subject = analysis.profile.allProcesses.lacks(.operations) ? "SQLite" : "store"
        let work = [
            "\(subject): \(time(totals))", trips > 0 ? Phrase.count(trips, "trip") : "",
            read.isEmpty ? "" : read.joined(separator: " and ") + " read",
        ]
        return work.filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// The kinds of work that took time, each with its name and its time in nanoseconds.
    var times: [(name: String, kind: EventKind, time: UInt64)] {
        parts.filter { $0.time > 0 }.map { ($0.name, $0.kind, $0.time) }
    }

    /// - Parameter showsAll: Whether to show also what trips and statements consisted of.
    func lines(_ ink: Ink, _ width: Int, showsAll: Bool) -> [String] {
        let totals = analysis.profile.totals
        let parts = self.parts.filter { $0.count > 0 }
        guard !parts.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "", alignment: .left), .init(title: "count", alignment: .right),
            .init(title: "rows", alignment: .right), .init(title: "trips", alignment: .right),
            .init(title: "time", alignment: .right), .init(title: "share", alignment: .right),
            .init(title: "", alignment: .left),
        ])
        for part in parts {
            let share = totals.storeTime == 0 ? 0 : Double(part.time) / Double(totals.storeTime)
            let bar = String(repeating: "█", count: max(0, min(20, Int((share * 20).rounded()))))
            table.add([
                part.name, Phrase.count(part.count),
                part.rows.map { part.uncounted == part.count ? "–" : Phrase.count($0) } ?? "–",
                Phrase.count(part.trips),
                isUnknown(part) ? "–" : Phrase.duration(part.time),
                isUnknown(part) ? "–" : Phrase.percent(min(1, share)), bar,
            ])
        }
        let splits = [
            split(of: .fetch, "fetches", rest: "prefetching and making objects"),
            split(of: .batch, "batches", rest: "prefetching and placing rows"),
            split(of: .fault, "faults", rest: "filling objects"),
        ].compactMap { $0 }
        let lines = title(totals, ink, width) + table.section(ink, width: width)
        guard showsAll else { return lines }
        return lines
            + splits.flatMap { split in
                Phrase.wrapped(split, width: width - 4).enumerated().map { position, line in
                    (position == 0 ? "  " : "    ") + ink(.dim, line)
                }
            }
            + statements(totals, ink, width)
    }

    /// Whether the trace has no durations of a part's events, or rounds all of them down to nothing.
    private func isUnknown(_ part: Part) -> Bool {
        part.isUntimed || part.time == 0 && analysis.profile.allProcesses.lacks(.shortDurations)
    }

    /// The distribution of the time of a kind's trips, or `nil` if the trace does not have it.
    ///
    ///     fetches: 12 % preparing, 61 % stepping through rows, 27 % prefetching and making objects
    ///
    /// - Parameter remainder: The name of the rest.
    private func split(of kind: EventKind, _ name: String, rest remainder: String) -> String? {
        let groups = analysis.profile.groups.filter { $0.key.kind == kind && $0.counts.step > 0 }
        let total = groups.reduce(0) { $0 &+ $1.totalTime }
        let sum = { (part: KeyPath<EventGroup.Counts, UInt64>) in groups.reduce(0) { $0 &+ $1.counts[keyPath: part] } }
        let known = [
            (sum(\.wait), "waiting"), (sum(\.prepare), "preparing"), (sum(\.step), "stepping through rows"),
        ]
        let rest = total &- min(total, known.reduce(0) { $0 &+ $1.0 })
        let parts = (known + [(rest, remainder)]).map { (Double($0) / Double(max(1, total)), $1) }.filter {
            $0.0 >= 0.005
        }
        guard total > 0, !parts.isEmpty else { return nil }
        return "\(name): " + parts.map { "\(Phrase.percent(min(1, $0))) \($1)" }.joined(separator: ", ")
    }

    /// The time, and its share of the recorded time.
    private func time(_ totals: ProfileCounts) -> String {
        let lacksShort = analysis.profile.allProcesses.lacks(.shortDurations)
        let isUntimed = totals.storeTime == 0 && (lacksShort || analysis.profile.groups.contains { $0.untimed > 0 })
        var text =
            !isUntimed
            ? Phrase.duration(totals.storeTime)
            : lacksShort ? "all durations are below 1 ms" : "the trace has no durations"
        let wall = analysis.profile.wallTime
        if analysis.profile.allProcesses.threadTime > wall {
            // Threads work concurrently, so their sum is not a share of the recorded time.
            let threads = analysis.profile.processes.reduce(0) { $0 &+ $1.threads }
            text += ", summed over \(threads > 1 ? Phrase.count(threads) : "all") threads"
        } else if wall > 0, !isUntimed, totals.storeTime <= wall, !analysis.profile.allProcesses.lacks(.startTimes) {
            text += ", \(Phrase.percent(Double(totals.storeTime) / Double(wall))) of the recorded time"
        }
        return text
    }

    private func title(_ totals: ProfileCounts, _ ink: Ink, _ width: Int) -> [String] {
        var text = time(totals)
        if totals.mainThreadStoreTime > 0 {
            text += "; \(Phrase.duration(totals.mainThreadStoreTime)) on the main thread"
        }
        let title = "Where the store's time went"
        if title.count + text.count + 4 <= width { return [ink(.bold, title) + "  (\(text))"] }
        return [ink(.bold, title)] + Phrase.wrapped(text, width: width - 2).map { "  " + $0 }
    }

    private func statements(_ totals: ProfileCounts, _ ink: Ink, _ width: Int) -> [String] {
        let statements = [
            (totals.reads, totals.reads == 1 ? "read" : "reads"),
            (totals.writes, totals.writes == 1 ? "write" : "writes"),
            (totals.transactions, "for transactions"), (totals.schemaStatements, "to set up the store"),
            (totals.otherCalls, "for blobs, backups or checkpoints"),
        ]
        let counts = statements.filter { $0.0 > 0 }.map { "\(Phrase.count($0.0)) \($0.1)" }
        var words = counts.isEmpty ? [] : ["statements: " + counts.joined(separator: ", ")]
        if !analysis.profile.allProcesses.lacks(.rows) {
            words.append("\(Phrase.count(totals.rowsLoaded, "row")) loaded")
        }
        let preparing = analysis.profile.statementPreparation
        if preparing > 0 { words.append("\(Phrase.duration(preparing)) preparing them") }
        if totals.bytesRead > 0 { words.append("\(Phrase.size(Double(totals.bytesRead))) read") }
        if totals.bytesWritten > 0 { words.append("\(Phrase.size(Double(totals.bytesWritten))) written") }
        if totals.rowsEvicted > 0 {
            let size = Phrase.size(Double(totals.bytesEvicted))
            words.append("\(Phrase.count(totals.rowsEvicted, "row")) evicted from the row cache (\(size))")
        }
        let files = files(totals)
        return ([words.joined(separator: " · ")] + files).flatMap { line in
            Phrase.wrapped(line, width: width - 2).map { "  " + ink(.dim, $0) }
        }
    }

    /// The use of files by statements: `files: 12 reads, 4,012 writes · 1,001 syncs, 1.20 s (93 % of the store's time)`.
    private func files(_ totals: ProfileCounts) -> [String] {
        let counts = analysis.profile.statementCounts
        var words: [String] = []
        if counts.fileReads > 0 { words.append(Phrase.count(counts.fileReads, "read")) }
        if counts.fileWrites > 0 { words.append(Phrase.count(counts.fileWrites, "write")) }
        var line = words.isEmpty ? [] : ["files: " + words.joined(separator: ", ")]
        if counts.syncs > 0 {
            let share = min(1, Double(counts.syncTime) / Double(max(1, totals.storeTime)))
            line.append(
                "\(Phrase.count(counts.syncs, "sync")), \(Phrase.duration(counts.syncTime)) (\(Phrase.percent(share)) of the "
                    + "store's time)")
        }
        return line.isEmpty ? [] : [line.joined(separator: " · ")]
    }

    /// Each kind of event, including what happens within it.
    ///
    /// Statements have a line of their own only if they stand alone.
    private var parts: [Part] {
        let totals = analysis.profile.totals
        var fetch = Part(name: "fetch", kind: .fetch)
        var batch = Part(name: "batch", kind: .batch)
        var stored = Part(name: "fault from the store", kind: .fault)
        var cached = Part(name: "fault from the row cache", kind: .cacheHits)
        var save = Part(name: "save", kind: .save)
        var statement = Part(name: "statement", kind: .sql)
        for group in analysis.profile.groups {
            let add = { (part: inout Part) in
                part.count &+= group.count
                part.rows = (part.rows ?? 0) &+ group.counts.rows
                part.trips &+= group.counts.trips
                part.time &+= group.totalTime
                part.uncounted &+= group.uncounted
                part.untimed &+= group.untimed
            }
            switch group.key.kind {
            case .fetch: add(&fetch)
            case .batch: add(&batch)
            case .fault: if group.key.source == .rowCache { add(&cached) } else { add(&stored) }
            case .save: add(&save)
            case .sql: add(&statement)
            default: break
            }
        }
        // Statements within other events are already counted as their trips.
        statement.time = totals.outermostTime[.sql] ?? 0
        let alone = totals.outermostEvents[.sql] ?? 0
        if alone < statement.count {
            statement.name = "other statement"
            (statement.count, statement.trips, statement.rows) = (alone, totals.outermostReads, nil)
        }
        // Which of the statements have no time is not known for those outside other events.
        if statement.time == 0, statement.untimed > 0 { statement.untimed = statement.count }
        if analysis.profile.allProcesses.lacks(.rows) { statement.rows = nil }
        return [fetch, batch, stored, cached, save, statement]
    }
}
