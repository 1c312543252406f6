internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R26: operations that failed, and faults whose rows were gone.
struct FailureRule: Rule {
    let id = "R26"
    let name = "Failures"
    let purpose =
        "Fetches and saves that failed, and faults that found no row, after which objects read as their default values."
    let kinds: Set<EventKind> = [.fetch, .batch, .fault, .save, .sql]

    /// The minimum number of failures of one line that is reported.
    static let minimumFailures = Threshold(
        "R26", "minimumFailures", 1, .count, "minimum failures of one line")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let operations = profile.groups.filter { FailureDetector.kinds.contains($0.key.kind) }
        let examined = operations.reduce(0) { $0 &+ $1.count }
        if examined > 0 {
            outcome.examined = "\(count: examined, "fetch, fault or save", plural: "fetches, faults and saves")"
        }
        outcome.findings = profile.evidence(of: FailureDetector.self).compactMap { finding($0.key, $0.evidence) }
        return outcome
    }

    private func finding(_ key: FailureEvidence.Key, _ evidence: FailureEvidence) -> Finding? {
        guard evidence.failures >= Self.minimumFailures.count else { return nil }
        let advice = FailureAdvice(key: key, evidence: evidence)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            // The program does not notice that a fault failed, so its failures weigh more.
            severity: Severity.of(
                Double(evidence.failures), warning: Self.minimumFailures.value, error: key.kind == .fault ? 10 : 100),
            fix: advice.fix, code: advice.code, saving: Saving(), confidence: .high,
            signature: ([id, key.kind.name, advice.cause.rawValue, key.site?.function ?? ""] + key.entities)
                .joined(separator: "|"))
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("failures", evidence.failures, .count), Evidence("gone", evidence.gone, .count),
            Evidence("conflicts", evidence.conflicts, .count), Evidence("time", evidence.time, .nanoseconds),
        ]
        return finding
    }
}

extension FailureRule {
    var needs: Set<TraceGap.Kind> { [.errors] }

    var thresholds: [Threshold] { [Self.minimumFailures] }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R26 reports fetches, batches, faults and saves that failed, and faults that found no row because "
                + "another writer had deleted it, at least \(FailureRule.minimumFailures.count) at one line.",
            evidence:
                "The finding gives the failures by line, SQLite's result code, the conflicts that saves met, and the "
                + "time that was lost.",
            fix:
                "Set a merge policy for conflicts. Merge the deletions of other contexts. Free disk space, or correct the "
                + "permissions of the file. Otherwise print the error, which names the object and the property.",
            saving: "No saving is predicted: a failure is a bug, whatever it costs.",
            guards: [
                "R26 ignores failures in scopes of the kind \"setup\".",
                "R13 reports operations that gave up waiting for a lock (SQLITE_BUSY, SQLITE_LOCKED).",
                "Conflicts that a merge policy resolved are not failures, nor are objects that the program fills by a call that "
                    + "throws, such as \"existingObject(with:)\".",
            ])
    }
}

/// The wording of R26's findings.
struct FailureAdvice {
    /// The reason why operations failed, by which they are advised.
    enum Cause: String {
        /// Another writer had deleted the rows.
        case gone
        /// A save met changes of another writer, or values that must be unique.
        case conflict
        /// The store refused a save before it wrote anything.
        case refused
        /// The disk is full or faulty, or the program may not read or write the file or its directory.
        case disk
        /// The file is damaged, or not a database.
        case damaged
        case other
    }

    let key: FailureEvidence.Key
    let evidence: FailureEvidence

    var cause: Cause {
        if evidence.gone >= evidence.failures { return .gone }
        if evidence.conflicts > 0 { return .conflict }
        return switch evidence.mainCode {
        case 4 where key.kind == .save: .refused
        case 8, 10, 13, 14: .disk
        case 11, 26: .damaged
        default: .other
        }
    }

    private var entities: Wording {
        guard let first = key.entities.first else { return "objects" }
        return key.entities.dropFirst().reduce("\(entity: first)") { $0 + ", \(entity: $1)" }
    }

    private var noun: (singular: String, plural: String) {
        switch key.kind {
        case .save: ("save", "saves")
        case .fault: ("fault", "faults")
        case .batch: ("batch", "batches")
        default: ("fetch", "fetches")
        }
    }

    /// The operations, in the plural: `saves of Item`.
    ///
    /// A save that failed names no entities.
    private var operations: Wording {
        key.entities.isEmpty ? "these \(noun.plural)" : "the \(noun.plural) of \(entities)"
    }

    var title: Wording {
        switch cause {
        case .gone: "Stop reading \(entities) objects whose rows were deleted"
        case .conflict: "Resolve the conflicts of \(operations)"
        case .refused: "Find out why the store refuses \(operations)"
        case .disk: "Make the store readable and writable for \(operations)"
        case .damaged: "Restore the store: its file is damaged"
        case .other: "Handle the failures of \(operations)"
        }
    }

    var fix: Wording {
        switch cause {
        case .gone:
            "Merge the saves of other contexts, so that this context learns of deletions. Where the program must notice a "
                + "deleted object, call \(code: "try object.fulfill()") before reading it: it throws."
        case .conflict:
            "Choose a merge policy. With the policy \(code: "error"), the default, a save fails when another writer has "
                + "changed the same object since it was read, or when a value that must be unique exists already."
        case .refused:
            "Print the error that \(code: "save()") throws: it names the object and the property that is not valid, or the "
                + "row that another writer has deleted."
        case .disk:
            "Check the free space of the disk, and the owner and the permissions of the store's file and its directory."
        case .damaged: "Restore a copy of the file, or rebuild it with \(code: "sqlite3 old.sqlite .recover")."
        case .other: "Print the error that the operation throws, and do not discard it with \(code: "try?")."
        }
    }

    var code: [String] {
        switch cause {
        case .gone: ["context.automaticallyMergesChangesFromParent = true"]
        case .conflict: ["context.mergePolicy = .mergeByPropertyObjectTrump"]
        case .refused, .disk, .damaged, .other: []
        }
    }

    var explanation: [Wording] {
        let count = evidence.failures
        var sentences: [Wording] = []
        switch cause {
        case .gone:
            sentences.append(
                "\(count: count, "fault") found no row, because another writer had deleted it. The object then reads as its "
                    + "default values, and the next fetch or save of its context throws.")
        case .conflict:
            sentences.append(
                "\(count: count, "save") failed with \(count: evidence.conflicts, "conflict"), and wrote nothing.")
        default:
            let code: Wording = name.map { " with \(code: $0)" } ?? ""
            sentences.append("\(count: count, noun.singular, plural: noun.plural) failed\(code).")
            if key.kind == .fault {
                sentences.append("The objects then read as their default values.")
            }
        }
        sentences.append("The failed operations took \(duration: evidence.time).")
        return sentences
    }

    /// The name of the most frequent code (https://www.sqlite.org/rescode.html).
    private var name: String? {
        guard let code = evidence.mainCode else { return nil }
        let names: [UInt64: String] = [
            1: "SQLITE_ERROR", 4: "SQLITE_ABORT", 7: "SQLITE_NOMEM", 8: "SQLITE_READONLY", 9: "SQLITE_INTERRUPT",
            10: "SQLITE_IOERR", 11: "SQLITE_CORRUPT", 13: "SQLITE_FULL", 14: "SQLITE_CANTOPEN", 17: "SQLITE_SCHEMA",
            18: "SQLITE_TOOBIG", 19: "SQLITE_CONSTRAINT", 20: "SQLITE_MISMATCH", 26: "SQLITE_NOTADB",
        ]
        return names[code] ?? "SQLite's code \(code)"
    }
}
