internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R30: columns of a statement's rows that the program does not read.
struct UnreadColumnRule: Rule {
    let id = "R30"
    let name = "Unread columns"
    let purpose = "Statements whose rows are only counted, or that select columns the program never reads."
    let kinds: Set<EventKind> = [.sql]
    let asksSQLite = true

    /// The minimum number of rows of a finding.
    static let minimumRows = Threshold("R30", "minimumRows", 100, .count, "minimum rows of a statement")
    /// The number of unread values that are worth more than a note.
    private static let manyValues = 5000.0

    let examinations: IndexExaminations

    init() { self.init(knowing: IndexExaminations()) }

    /// - Parameter examinations: The bytes of columns on a copy of the database.
    init(knowing examinations: IndexExaminations) { self.examinations = examinations }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let runs = profile.columnReads.reduce(0) { $0 &+ $1.evidence.executions }
        if runs > 0 { outcome.examined = "the columns of \(count: runs, "statement")" }
        outcome.findings = profile.columnReads.compactMap { finding($0.key, $0.evidence) }
        if !examinations.widestColumns.isEmpty {
            let weighed = UInt64(examinations.widestColumns.count)
            outcome.examined = [
                outcome.examined, "the bytes of \(count: weighed, "statement") on a copy of the database",
            ]
            .compactMap { $0 }.joined(separator: ", ")
        }
        outcome.findings += wideColumns(profile, besides: outcome.findings)
        return outcome
    }

    private func finding(_ key: StatementSite, _ evidence: ColumnReadEvidence) -> Finding? {
        let text = StatementText(key.sql)
        guard evidence.rows >= Self.minimumRows.count, !evidence.unreadColumns.isEmpty, let table = text.table,
            !text.isOfSQLite, StatementSelection(key.sql) != nil, evidence.isCountedOnly || !evidence.read.isEmpty
        else { return nil }
        let advice = UnreadColumnAdvice(sql: key.sql, text: text, table: table, evidence: evidence)
        let values = Double(evidence.rows) * Double(evidence.unreadColumns.count)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            severity: min(
                Severity.warning, Severity.of(values, warning: Self.manyValues, error: 1000 * Self.manyValues)),
            fix: advice.fix, code: advice.code, saving: Saving(),
            confidence: .medium("another run can read other columns"),
            signature: [id, text.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = advice.language
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.subjects = [.statement(key.sql)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("columns", Double(evidence.columns.count), .count),
            Evidence("unreadColumns", Double(evidence.unreadColumns.count), .count),
            Evidence("time", evidence.time, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.remedy = .statement(
            StatementChange(
                sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                kind: advice.change))
        // The part of the time that the columns take is not known, so all of it is an upper bound.
        if !Significance.isMet(
            saving: Double(evidence.time), wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        {
            finding.downgrade(Significance.notProven)
        }
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        return finding
    }
}

extension UnreadColumnRule {
    var needs: Set<TraceGap.Kind> { [.statements] }

    var thresholds: [Threshold] { [Self.minimumRows] }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R30 reports statements of a program without an object store, recorded with --columns, that returned "
                + "at least \(Phrase.decimal(Self.minimumRows.value, places: 0)) rows from one line, if the program "
                + "read none of their columns, or never read some of them. It also reports statements that return lists and take at "
                + "least 5 % of the run, if one column has most of the bytes on a copy of the database: at least "
                + "\(Phrase.count(UInt64(WideList.leastBytes))) a row.",
            evidence:
                "The finding gives the runs, their rows and their time in SQLite, the columns that were read, and "
                + "those that were not.",
            fix: "Select the columns that are read. If none is, count the rows in SQL, or ask whether one exists.",
            saving:
                "For a column that has most of the bytes, the saving is that share of the time. For others, no time is predicted, "
                + "because the trace does not show what each column costs. verify measures it.",
            guards: [
                "A driver that copies whole rows, such as Python's, reads all columns: R30 then finds nothing.",
                "R30 ignores statements with more than 63 columns, aggregates, DISTINCT, UNION and WITH, and the statements of "
                    + "fetches, which R03 and R05 evaluate.",
                "A finding is a note if the statements took less than 1 % of the time that the work took and less than 2 ms.",
            ])
    }
}

/// The wording of R30's findings.
struct UnreadColumnAdvice {
    let sql: String
    let text: StatementText
    let table: String
    let evidence: ColumnReadEvidence

    /// The most names that a sentence lists.
    private static let fewNames = 5

    private var library: StatementLibrary? { StatementLibrary(names: evidence.libraries) }
    private var model: String { StatementLibrary.modelName(of: table) }
    private var isGRDB: Bool { library == .grdb }

    /// Whether each run returned one row, of which nothing was read: the program asked whether there is one.
    private var isExistence: Bool { evidence.isCountedOnly && evidence.rows == evidence.executions }

    var title: Wording {
        if isExistence { return "Ask whether a row of \(entity: table) exists, without selecting its columns" }
        return evidence.isCountedOnly
            ? "Count the rows of \(entity: table) in SQL, instead of stepping over them"
            : "Select only the columns of \(entity: table) that are read"
    }

    var fix: Wording {
        if isExistence { return "SQLite then stops at the first row, and reads none of its columns." }
        return evidence.isCountedOnly
            ? "SQLite counts rows without reading their columns, and from an index alone if one serves the condition."
            : "SQLite reads and copies each column that a statement selects. It can take short rows from an index alone."
    }

    var code: [String] {
        guard let selection = StatementSelection(sql), selection.isPlain else { return [] }
        if isExistence { return isGRDB ? ["try !\(model).filter(…).isEmpty(db)"] : [selection.existence] }
        if evidence.isCountedOnly {
            return isGRDB ? ["let count = try \(model).filter(…).fetchCount(db)"] : [selection.count]
        }
        let names = evidence.readColumns
        // SQLite can name columns by their tables, or by the text of what it took for a value.
        guard selection.isOfColumns, !names.contains(where: { $0.contains(".") || $0.contains("\"") }) else {
            return []
        }
        return isGRDB
            ? ["\(model).select(\(names.map { "Column(\"\($0)\")" }.joined(separator: ", ")))"]
            : [selection.columns(names)]
    }

    /// The language of ``code``.
    var language: String { isGRDB ? "swift" : "sql" }

    /// The change to try on a copy.
    var change: StatementChange.Kind {
        if isExistence { return .existence }
        return evidence.isCountedOnly ? .count : .columns(evidence.readColumns)
    }

    var explanation: [Wording] {
        let runs: Wording = "\(count: evidence.executions, "run") of \(code: Phrase.shortened(text.summary, to: 90))"
        let returned: Wording = "\(runs) returned \(rows: evidence.rows), in \(duration: evidence.time)"
        let measured: Wording = "\(code: "faultline verify") measures what the change saves."
        if evidence.isCountedOnly { return ["\(returned). The program read none of their columns.", measured] }
        let unread = evidence.unreadColumns
        let rest = unread.count - Self.fewNames
        let more: Wording = rest > 0 ? " and \(count: rest, "other")" : ""
        let listed = unread.prefix(rest > 0 ? Self.fewNames : unread.count)
        return [
            "\(returned). The program never read \(count: unread.count, of: .count) of the \(count: evidence.columns.count, "column"): "
                + "\(code: listed.joined(separator: ", "))\(more).",
            measured,
        ]
    }
}
