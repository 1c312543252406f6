internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R13's findings.
struct WaitAdvice {
    let key: WaitEvidence.Key
    let evidence: WaitEvidence
    /// Whether the program uses Faultline's store.
    let usesStore: Bool

    /// The work of the lock's owner: `the save at Import.swift:30`.
    ///
    /// A statement keeps the lock until its transaction ends.
    private var owner: Wording? {
        let position: Wording = key.ownerSite.map { " at \(site: $0)" } ?? ""
        if let kind = key.ownerKind { return "the \(kind == .sql ? "transaction" : kind.name)\(position)" }
        return key.ownerSite.map { "the work at \(site: $0)" }
    }

    /// Whether the statements of a program did not wait at all for the lock, and failed.
    var isImpatient: Bool {
        !usesStore && key.resource == .sqlite && evidence.isImpatient
    }

    /// Whether most of them failed because their transactions had read before they wrote.
    private var isUpgrade: Bool { isImpatient && Significance.isMost(evidence.upgrades, of: evidence.failures) }

    private var library: StatementLibrary? { StatementLibrary(names: evidence.libraries) }

    /// Other changes, as sentences.
    var alternatives: [Wording] {
        guard !usesStore, key.resource == .sqlite else { return [] }
        if isUpgrade {
            return [
                "A transaction that begins so waits for the lock as long as the busy timeout allows "
                    + "(\(code: "PRAGMA busy_timeout")): without one, it fails at its beginning."
            ]
        }
        if isImpatient {
            return [
                "If the transaction had read before it wrote, begin it with \(code: "BEGIN IMMEDIATE"): SQLite cannot wait in "
                    + "the middle of it, whatever the timeout."
            ]
        }
        if hasAsked { return [] }
        return [
            "If a statement that reads waits, a write-ahead log helps (\(code: "PRAGMA journal_mode = WAL")): readers and a "
                + "writer then do not wait for each other."
        ]
    }

    /// Whether most waits were those of transactions that asked for the lock when they began.
    private var hasAsked: Bool { Significance.isMost(evidence.asked, of: evidence.durations.count) }

    /// Whether no transaction had the lock for as long as the waits took, so that there is nothing to shorten.
    var takesTurns: Bool {
        key.resource == .sqlite && !usesStore && !isForeign && evidence.longestHold > 0
            && evidence.longestHold < WaitRule.longWait.count && evidence.longest >= 2 * evidence.longestHold
    }

    private var isForeign: Bool { Significance.isMost(evidence.foreign, of: evidence.durations.count) }

    var title: Wording {
        switch key.resource {
        case .contextQueue:
            return "Give \(owner ?? "the work that others wait for") a context of its own"
        case .coordinator: return "Shorten how long \(owner ?? "the writer") holds the store"
        case .connection: return "Shorten how long \(owner ?? "the reader") holds its connection"
        case .sqlite where isUpgrade: return "Begin the transaction with \(code: "BEGIN IMMEDIATE")"
        case .sqlite where isImpatient: return "Wait for SQLite's lock instead of failing"
        case .sqlite where takesTurns: return "Write from one connection instead of several at a time"
        case .sqlite:
            return isForeign
                ? "Shorten how long the other process holds SQLite's lock"
                : "Shorten how long \(owner ?? (usesStore ? "the writer" : "another connection")) holds SQLite's lock"
        }
    }

    var fix: Wording {
        switch key.resource {
        case .contextQueue:
            "A context runs one block at a time. Move long work to a background context, and merge its saves into "
                + "this one."
        case .coordinator:
            saveFix
                ?? "Only one context writes at a time. Save a few hundred objects at a time so that others can write "
                + "in between, or use a batch request."
        case .connection:
            "All reader connections were busy. Fetch less at once, or in batches, so that each is free sooner."
        case .sqlite where isUpgrade:
            "The transaction then asks for the lock before it reads. SQLite cannot wait in the middle of a transaction that "
                + "has read, whatever the timeout, because another connection may have changed what it read."
        case .sqlite where isImpatient:
            "Without a busy timeout, a statement fails at once if another connection holds the lock. In Python, "
                + "\(code: "timeout") of \(code: "sqlite3.connect") sets it, and in GRDB \(code: "busyMode")."
        case .sqlite where takesTurns:
            "SQLite lets one connection write at a time, and sleeps between its attempts to take the lock, for up to 100 ms, while "
                + "others take it. Let one thread write for all of them, or write more in each transaction."
        case .sqlite:
            // FaultlineStore begins its saves with BEGIN EXCLUSIVE, and its readers use the write-ahead log.
            saveFix
                ?? "SQLite lets one connection write at a time, so keep write transactions short. \(otherFix)"
        }
    }

    private var otherFix: Wording {
        if usesStore {
            return "If another program holds the lock, begin its write transactions with \(code: "BEGIN IMMEDIATE"). "
                + "Faultline's store needs no change."
        }
        if hasAsked { return "Do no other work before \(code: "COMMIT")." }
        return "Begin them with \(code: "BEGIN IMMEDIATE"), and do no other work before \(code: "COMMIT")."
    }

    /// The fix for a save that other work waits for, or `nil` if the owner is not a save.
    private var saveFix: Wording? {
        guard key.ownerKind == .save, evidence.mostObjects > 0 else { return nil }
        let objects: Wording = "\(count: evidence.mostObjects, "object")"
        if evidence.mostObjects >= SaveDetector.dividedSave {
            return "Only one context writes at a time, and the largest save has \(objects). Save a few hundred at a "
                + "time so that others can write in between, or use a batch request."
        }
        if Significance.isMost(evidence.saveCommit, of: evidence.saveTime) {
            return "The largest save has only \(objects), and most of the saves' time is COMMIT, which waits for the "
                + "disk. Fewer, larger saves or a faster disk shorten the waits."
        }
        return "The largest save has only \(objects), so splitting it would not help. Look at its other work: "
            + "validation, \(code: "willSave"), triggers and indexes."
    }

    var code: [String] {
        if isUpgrade { return library?.immediateTransaction ?? ["BEGIN IMMEDIATE"] }
        if isImpatient { return ["PRAGMA busy_timeout = 5000"] }
        guard key.resource == .contextQueue else { return [] }
        return ["let context = container.newBackgroundContext()", "try await context.perform { … }"]
    }

    /// The language of ``code`` in programs without an object store.
    var language: String {
        isUpgrade ? library?.language ?? "sql" : "sql"
    }

    var explanation: [Wording] {
        if isUpgrade {
            return [
                "\(count: evidence.failures, "statement") failed with SQLITE_BUSY, because another connection held the lock and "
                    + "the transaction had already read."
            ]
        }
        if isImpatient {
            return [
                "\(count: evidence.failures, "statement") failed with SQLITE_BUSY, because another connection held the lock."
            ]
        }
        let middle: Wording =
            evidence.durations.count == 1
            ? "" : ", median \(duration: evidence.durations.percentile(50))"
        var sentences: [Wording] = [
            "\(count: evidence.durations.count, "wait") for \(noun): \(duration: evidence.time) in all, longest "
                + "\(duration: evidence.longest)\(middle)\(owner.map { ", during \($0)" as Wording } ?? "")."
        ]
        if evidence.failures > 0 {
            sentences.append("\(count: evidence.failures, "wait") ended without the lock, and the work failed.")
        }
        if isForeign { sentences.append("Another process held it.") }
        if takesTurns {
            sentences.append("No transaction had it for more than \(duration: evidence.longestHold).")
        }
        if evidence.tries > 0 {
            sentences.append("The lock was retried \(count: evidence.tries, "time").")
        }
        return sentences
    }

    private var noun: String {
        switch key.resource {
        case .contextQueue: "a context's queue"
        case .coordinator: "the coordinator"
        case .connection: "a connection"
        case .sqlite: "SQLite's lock"
        }
    }
}
