internal import FaultlineTrace

/// The wording of R13's findings.
struct WaitAdvice {
    let key: WaitEvidence.Key
    let evidence: WaitEvidence

    /// The work of the lock's owner: `the save at Import.swift:30`.
    private var holder: Wording? {
        let place: Wording = key.holderSite.map { " at \(site: $0)" } ?? ""
        if let kind = key.holderKind { return "the \(kind.name)\(place)" }
        return key.holderSite.map { "the work at \(site: $0)" }
    }

    private var isForeign: Bool { Significance.isMost(evidence.foreign, of: evidence.durations.count) }

    var title: Wording {
        switch key.resource {
        case .contextQueue:
            return "Give \(holder ?? "the work that others wait for") a context of its own"
        case .coordinator: return "Let \(holder ?? "what writes") hold the store for less time at once"
        case .connection: return "Let \(holder ?? "what reads") hold its connection for less time at once"
        case .sqlite:
            return isForeign
                ? "Let the other process hold the store's lock for less time at once"
                : "Let \(holder ?? "what writes") hold SQLite's lock for less time at once"
        }
    }

    var fix: Wording {
        switch key.resource {
        case .contextQueue:
            "A context does one piece of work at a time. Long work belongs on a background context, whose saves the other "
                + "takes in."
        case .coordinator:
            saveFix
                ?? "One context writes at a time. A save in parts of some hundred objects, or a batch request, leaves room "
                + "for others in between."
        case .connection:
            "All connections that read were busy. Fetch less at once, or in batches, so that each is free again sooner."
        case .sqlite:
            // A save of a store's context begins with BEGIN EXCLUSIVE, and its readers use the write-ahead log.
            saveFix
                ?? "SQLite lets one connection write at a time. Keep what writes short, begin it with \(code: "BEGIN IMMEDIATE") so that it "
                + "waits at its beginning, and use the write-ahead log, with which readers do not wait."
        }
    }

    /// The fix for a save that other work waits for, or `nil` if the owner is not a save.
    private var saveFix: Wording? {
        guard key.holderKind == .save, evidence.mostObjects > 0 else { return nil }
        let objects: Wording = "\(count: evidence.mostObjects, "object")"
        if evidence.mostObjects >= SaveDetector.dividedSave {
            return "One context writes at a time, and the save has \(objects). Saved in parts of some hundred, or as a "
                + "batch request, it leaves room for others in between."
        }
        if Significance.isMost(evidence.saveCommit, of: evidence.saveTime) {
            return "The save has no more than \(objects), and most of its time is COMMIT, which waits for the disk. "
                + "Fewer saves that hold more each, or a faster disk, shorten the waits."
        }
        return "The save has no more than \(objects), so parts would not help. Look at what it does beside writing "
            + "them: validation, \(code: "willSave"), triggers and indexes."
    }

    var code: [String] {
        guard key.resource == .contextQueue else { return [] }
        return ["let context = container.newBackgroundContext()", "try await context.perform { … }"]
    }

    var explanation: [Wording] {
        let middle: Wording =
            evidence.durations.count == 1
            ? "" : ", \(duration: evidence.durations.percentile(50)) in the middle"
        var sentences: [Wording] = [
            "\(count: evidence.durations.count, "wait") for \(thing): \(duration: evidence.time) in all, \(duration: evidence.longest) the "
                + "longest\(middle)\(holder.map { ", meanwhile \($0)" as Wording } ?? "")."
        ]
        if evidence.tries > 0 {
            sentences.append("The lock was asked for \(count: evidence.tries, "more time") in vain.")
        }
        if evidence.failures > 0 {
            sentences.append("\(count: evidence.failures, "wait") ended without it, and what was to be done failed.")
        }
        if isForeign { sentences.append("Another process held it.") }
        return sentences
    }

    private var thing: String {
        switch key.resource {
        case .contextQueue: "a context's queue"
        case .coordinator: "the coordinator"
        case .connection: "a connection"
        case .sqlite: "SQLite's lock"
        }
    }
}
