internal import FaultlineTrace

/// The wording of R29's findings.
struct RepeatedStatementAdvice {
    let statement: StatementText
    private let evidence: RepeatedStatementEvidence
    private let library: StatementLibrary?

    init(_ key: StatementSite, _ evidence: RepeatedStatementEvidence) {
        self.evidence = evidence
        statement = StatementText(key.sql)
        library = StatementLibrary(names: evidence.libraries)
    }

    /// Whether the statement looks for one row by its key.
    private var isByKey: Bool {
        statement.comparesOnlyThat && statement.comparedColumn?.lowercased() == "id"
    }

    var title: Wording {
        let times: Wording =
            evidence.occurrences == 1 ? "\(count: evidence.executions)" : "up to \(count: evidence.most)"
        guard let table = statement.table else { return "Run this statement once instead of \(times) times" }
        return "Read \(entity: table) once instead of \(times) times, and keep the result"
    }

    var fix: Wording {
        switch library {
        case .django?:
            "A queryset runs its statement each time that it is evaluated anew. Keep the objects, or cache the function that "
                + "reads them for as long as the work lasts."
        case .sqlAlchemy? where isByKey:
            "The session keeps the objects that it has read, and returns them by their keys without a statement."
        default:
            "Pass the result on, or keep it for as long as the work lasts: nothing was written that could change it."
        }
    }

    /// The call that reads no row a second time, if the library has one.
    var code: [String] {
        guard library == .sqlAlchemy, isByKey else { return [] }
        return ["session.get(\(StatementLibrary.modelName(of: statement.table)), key)"]
    }

    var explanation: [Wording] {
        let groups: Wording =
            evidence.occurrences == 1
            ? "" : " on \(count: evidence.occurrences) occasions, up to \(count: evidence.most) times on one"
        return [
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(statement.summary, to: 90)) with the same values\(groups), "
                + "and nothing was written in between: \(duration: evidence.time) in SQLite, and "
                + "\(duration: evidence.waiting) between them."
        ] + evidence.callers.sentences
    }
}
