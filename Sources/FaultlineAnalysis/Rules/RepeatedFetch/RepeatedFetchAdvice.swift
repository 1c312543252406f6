internal import FaultlineTrace

/// The wording of R18's findings.
struct RepeatedFetchAdvice {
    let shape: ShapeEntry
    let evidence: RepeatEvidence

    /// Whether the fetch looks for one object by its ID.
    private var isByID: Bool {
        shape.terms.map { $0.count == 1 && $0[0].keyPath.uppercased() == "SELF" && $0[0].operation == "==" } ?? false
    }

    var title: Wording {
        isByID
            ? "Get the \(entity: shape.entity) from the context by its ID instead of fetching it"
            : "Run \(shape.entity.isEmpty ? "this fetch" : "the fetch of \(entity: shape.entity)" as Wording) once, "
                + "and keep its result"
    }

    var fix: Wording {
        isByID
            ? "The context finds its objects by their IDs, and returns a fault for one that it does not have."
            : "Pass the result on, or keep it for as long as the work lasts: nothing was written that could change it."
    }

    var code: [String] { isByID ? ["let object = context.object(with: id)"] : [] }

    var explanation: [Wording] {
        let occasions: Wording =
            evidence.occurrences == 1
            ? ""
            : " on \(count: evidence.occurrences) occasions, up to \(count: evidence.most) times on one"
        let rows: Wording = evidence.rows == 0 ? "" : ", \(rows: evidence.rows) loaded again"
        return [
            "\(count: evidence.executions, "fetch", plural: "fetches") with the same values\(occasions): "
                + "\(duration: evidence.time) in all\(rows)."
        ] + evidence.callers.sentences
    }
}
