internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The section of a report that shows where the time of migrations went.
struct MigrationText {
    let profile: Profile
    /// Whether to show all parts.
    var showsAll = false
    /// The maximum number of parts shown, which take at least a thousandth of the time.
    static let shown = 8

    func lines(_ ink: Ink, _ width: Int) -> [String] {
        let wholes = profile.migrations.filter { $0.key.stage == .whole }
        guard !wholes.isEmpty else { return [] }
        let total = wholes.reduce(0) { $0 &+ $1.evidence.time }
        // The table lists the parts of a step instead of the step.
        let parts = profile.migrations.filter { $0.key.stage != .whole && $0.key.stage != .step }
            .ordered { ($0.evidence.time, $1.key.name) > ($1.evidence.time, $0.key.name) }
        var table = TextTable([
            .init(title: "part", alignment: .left, losing: .middle), .init(title: "rows", alignment: .right),
            .init(title: "rows a second", alignment: .right), .init(title: "time", alignment: .right),
            .init(title: "share", alignment: .right),
        ])
        func add(_ name: String, _ rows: UInt64, _ time: UInt64) {
            let rate = rows == 0 || time == 0 ? "–" : Phrase.count(UInt64(Double(rows) * 1e9 / Double(time)))
            table.add([
                name, rows == 0 ? "–" : Phrase.count(rows), rate, Phrase.duration(time),
                Phrase.percent(total == 0 ? 0 : min(1, Double(time) / Double(total))),
            ])
        }
        let shown = showsAll ? parts[...] : parts.filter { $0.evidence.time >= total / 1000 }.prefix(Self.shown)
        for (key, evidence) in shown { add(Self.words(key), evidence.rows, evidence.time) }
        let rest = total &- min(total, shown.reduce(0) { $0 &+ $1.evidence.time })
        // A log does not name the file, and shows the statements alone.
        let isLogged = wholes.contains { $0.key.name.isEmpty }
        if rest > 0 { add(isLogged || parts.count > shown.count ? "the rest" : "opening and closing files", 0, rest) }
        let summaries = wholes.flatMap { whole in
            Phrase.wrapped(Self.summary(whole.key, whole.evidence), width: width - 4).enumerated().map {
                ($0 == 0 ? "  " : "    ") + ink(.dim, $1)
            }
        }
        // A log of a migration that failed has no time of it.
        guard total > 0 else { return [ink(.bold, "Migrations")] + summaries }
        return [ink(.bold, "Where the migration's time went") + "  (\(Phrase.duration(total)))"] + summaries
            + table.section(ink, width: width)
    }

    /// `Library.sqlite (12.3 MB): in place, as inferred; 1.20 s`.
    private static func summary(_ key: MigrationEvidence.Key, _ evidence: MigrationEvidence) -> String {
        let times = evidence.count > 1 ? ", \(Phrase.count(evidence.count, "time"))" : ""
        let failed =
            evidence.failures == 0
            ? "" : evidence.count == 1 ? "; it failed" : "; \(Phrase.count(evidence.failures)) failed"
        let size = evidence.bytes == 0 ? "" : " (\(Phrase.size(Double(evidence.bytes))))"
        let file = key.name.isEmpty ? "" : "\(Phrase.printable(Phrase.fileName(key.name)))\(size): "
        let time = evidence.time == 0 ? "" : "; \(Phrase.duration(evidence.time))"
        return "\(file)\(key.way.words)\(times)\(time)\(failed)"
    }

    static func words(_ key: MigrationEvidence.Key) -> String {
        let name = Phrase.printable(key.name)
        let subject = name.isEmpty ? "" : " of \(name)"
        switch key.stage {
        case .whole, .step: return name
        case .plan: return "planning and checking rows"
        case .rows: return name.isEmpty ? "preparing tables" : "changing rows\(subject)"
        case .derive: return "computing derived attributes\(subject)"
        case .index: return "creating indexes\(subject)"
        case .create: return "creating objects, \(name)"
        case .relate: return "setting relationships, \(name)"
        case .verify: return name.isEmpty ? "checking the new store" : "validating, \(name)"
        case .handler: return name.isEmpty ? "handlers" : "handlers\(subject)"
        }
    }
}

extension TraceEvent.Migration.Way {
    /// The method of a migration, as part of a sentence.
    fileprivate var words: String {
        switch self {
        case .inferred: "in place, as inferred"
        case .mapping: "in place, with a mapping model"
        case .objects: "object by object, with a mapping model"
        case .staged: "version by version"
        }
    }
}
