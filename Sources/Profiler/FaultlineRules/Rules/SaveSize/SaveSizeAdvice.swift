internal import FaultlineFindings
internal import FaultlineTrace

/// The wording of R10's findings.
struct SaveSizeAdvice {
    let key: SaveEvidence.Key
    let evidence: SaveEvidence

    /// The saved entities: `Item`, `Album and Track`, `Album, Artist and 3 others`.
    var entities: Wording {
        let names = evidence.entities.sorted().map { "\(entity: $0)" as Wording }
        switch names.count {
        case 0: return "objects"
        case 1: return names[0]
        case 2: return "\(names[0]) and \(names[1])"
        default: return "\(names[0]), \(names[1]) and \(count: names.count - 2, "other")"
        }
    }

    func signature(_ rule: String, _ what: String) -> String {
        [rule, what, evidence.entities.sorted().joined(separator: ","), key.site?.function ?? ""]
            .joined(separator: "|")
    }

    // MARK: - Small saves

    /// Whether batch requests inserted the rows.
    var isBatchInsert: Bool { Significance.isMost(evidence.small.batchInserts, of: evidence.small.saves) }

    /// - Parameter part: The number of objects to save at once, or `nil` for all of them.
    func smallTitle(part: Int?) -> Wording {
        if isBatchInsert { return "Insert the rows of \(entities) with one batch request" }
        return part.map { "Save \(entities) after every \(count: $0) objects" }
            ?? "Save \(entities) once, after all changes"
    }

    var smallFix: Wording {
        if isBatchInsert {
            return "Collect the rows first, and insert them with one request: each request is a transaction of its own."
        }
        return
            "Make all changes first and save them together. Keep a separate save for changes that a user has confirmed."
    }

    func smallCode(part: Int?) -> [String] {
        if isBatchInsert {
            guard evidence.entities.count == 1, let entity = evidence.entities.first else { return [] }
            return ["try context.execute(BatchInsertRequest(entityName: \"\(entity)\", objects: rows))"]
        }
        guard let part else { return ["for change in changes {", "    apply(change)", "}", "try context.save()"] }
        return [
            "for (index, change) in changes.enumerated() {", "    apply(change)",
            "    if (index + 1).isMultiple(of: \(part)) { try context.save() }", "}", "try context.save()",
        ]
    }

    var smallExplanation: [Wording] {
        let small = evidence.small
        let (one, many): (Wording, Wording) = isBatchInsert ? ("one row", "rows") : ("one object", "objects")
        let per: Wording =
            small.objects == small.saves
            ? one : "about \(decimal: Double(small.objects) / Double(max(1, small.saves)), places: 1) \(many)"
        let times: Wording =
            small.occurrences == 1
            ? ""
            : ", about \(count: small.saves / max(1, small.occurrences)) on each of \(count: small.occurrences) "
                + "occasions"
        let saves: Wording =
            "\(count: small.saves, isBatchInsert ? "batch request" : "save") followed one another\(times), with \(per) each"
        guard small.untimed < small.saves else { return [saves + ". The trace does not show how long they took."] }
        let timed: Wording =
            small.untimed == 0 ? "in all" : "in the \(count: small.saves - small.untimed) with known times"
        guard small.commit > 0 else { return [saves + ": \(duration: small.time) \(timed)."] }
        return [
            saves + ": \(duration: small.time) \(timed), \(duration: small.commit) of it in COMMIT.",
            "The time of a commit depends on the disk: \(duration: small.commit / max(1, small.saves)) here.",
        ]
    }

    // MARK: - Large saves

    func largeTitle(part: Int) -> Wording { "Save \(entities) in parts of \(count: part) objects" }

    var largeFix: Wording {
        "Save after that many objects, and release them before making the next ones. If none of the objects' own code "
            + "has to run, a batch request writes the rows without making objects."
    }

    func largeCode(part: Int) -> [String] {
        // Objects that were fetched are in use elsewhere, so that the context must keep them.
        guard Significance.isMost(evidence.large.inserted, of: evidence.large.objects) else {
            return smallCode(part: part)
        }
        return [
            "if inserted.isMultiple(of: \(part)) {", "    try context.save()", "    context.reset()", "}",
        ]
    }

    var largeExplanation: [Wording] {
        let (large, blocking) = (evidence.large, evidence.blocking)
        let saves: Wording = large.saves > 1 ? "The longest of \(count: large.saves) saves" : "A save"
        var sentences: [Wording] = [
            "\(saves) took \(duration: evidence.longestSave) without COMMIT; the largest had "
                + "\(count: evidence.mostObjects) objects."
        ]
        if blocking.waits > 0 {
            let longest: Wording = blocking.waits == 1 ? "" : ", longest \(duration: blocking.longest)"
            let main: Wording =
                switch blocking.mainThreadWaits {
                case 0: ""
                case blocking.waits: ", on the main thread"
                default: ", \(count: blocking.mainThreadWaits) of them on the main thread"
                }
            sentences.append(
                "\(count: blocking.waits, "wait") for its lock\(main): \(duration: blocking.time) in all\(longest)."
            )
        }
        return sentences
    }

    /// A round number of objects: 1, 2 or 5 times a power of ten, and at least 100.
    static func round(_ objects: Double) -> Int {
        guard objects >= 200 else { return 100 }
        var power = 100
        while Double(power * 10) <= objects, power < 1_000_000 { power *= 10 }
        return Double(power * 5) <= objects ? power * 5 : Double(power * 2) <= objects ? power * 2 : power
    }
}
