package import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The findings about statements for which SQLite was asked about indexes.
extension IndexExaminations {
    /// Whether the answer about a statement is known, so that no rule guesses.
    func hasAnswer(_ sql: String) -> Bool {
        switch self[sql] {
        case .change, .nothing: true
        case .notExamined, nil: false
        }
    }

    /// The findings of a rule.
    ///
    /// - Parameter analyzing: Whether to return those that `ANALYZE` alone mends, or those that need an index.
    func findings(_ rule: any Rule, _ profile: Profile, analyzing: Bool) -> [Finding] {
        profile.statementHotspots.compactMap { sql, groups -> Finding? in
            guard case .change(let tuning) = self[sql], tuning.indexes.isEmpty == analyzing else { return nil }
            return ExaminedStatement(sql: sql, groups: groups, tuning: tuning).finding(rule, profile)
        }
        .joined(analyzing ? "ANALYZE" : "The index")
    }
}

extension Analysis {
    /// The findings about indexes and statistics that SQLite confirmed on a copy of the database.
    package var confirmedIndexes: [Finding] {
        findings.filter { finding in finding.evidence.contains { $0.name == ExaminedStatement.steps } }
    }
}

extension Finding {
    /// Whether its SQL creates an index that begins with a column of a table.
    func creates(indexOn table: String, beginningWith column: String) -> Bool {
        let (table, column) = (StatementText.quoted(table), StatementText.quoted(column))
        return code.contains { $0.contains(" ON \(table)(\(column))") || $0.contains(" ON \(table)(\(column),") }
    }
}

/// A statement with the change that a copy of the database confirmed.
private struct ExaminedStatement {
    let sql: String
    /// At least one.
    let groups: [EventGroup]
    let tuning: StatementTuning

    /// The minimum part of the work, and the minimum saving of a run in nanoseconds or share of the whole run, for a warning.
    private static let leastPart = 0.8
    private static let leastTime = 1_000_000.0
    private static let leastShare = 0.01
    /// The share of the whole run that is worth a warning, whatever part of the statement's work it is.
    private static let largeShare = 0.2
    /// The minimum saving of the whole run for a warning, in nanoseconds, unless hardly any work is left.
    private static let leastSaving = 5_000_000.0
    private static let nearlyAll = 0.99

    /// The name of the evidence that only such a finding has.
    static let steps = "stepsBefore"

    private var text: String { Phrase.shortened(StatementText(sql).summary, to: 90) }
    private var time: UInt64 { groups.reduce(0) { $0 &+ $1.totalTime } }
    private var executions: UInt64 { groups.reduce(0) { $0 &+ $1.count } }
    private var rows: UInt64 { groups.reduce(0) { $0 &+ $1.counts.rows } }

    func finding(_ rule: any Rule, _ profile: Profile) -> Finding {
        let gained = Double(time) * tuning.savedShare
        let upkeep = upkeep(profile)
        let saved = max(0, gained - upkeep.time)
        let steps = Double(tuning.before.steps) / Double(max(1, tuning.runs))
        var finding = Finding(
            rule: rule.id, ruleName: rule.name, title: title, change: groups[0].key.site,
            severity: max(
                Severity.of(steps, warning: FetchIndexing.minimumRows.value, error: 200_000),
                Significance.severity(saving: saved, wallTime: profile.knownWallTime ?? 0, isMainThread: false)),
            fix: fix,
            code: tuning.code,
            saving: Saving(
                time: .init(median: saved, low: max(0, gained * 0.8 - upkeep.time), high: Double(time))),
            confidence: tuning.hasRecordedValues
                ? .high
                : .medium("measured on a copy of the database, with other values"),
            signature: ([rule.id, "sql"] + tuning.code).joined(separator: "|"))
        finding.codeLanguage = "sql"
        finding.alternatives = alternatives(profile)
        finding.explanation = explanation(profile) + upkeep.words
        finding.seenAt = groups.map { .init(site: $0.key.site, count: $0.count, time: $0.totalTime) }
        finding.subjects = [.statement(sql)]
        finding.scopes =
            profile.statementScans.filter { $0.key.sql == sql }.flatMap { $0.evidence.scopes.names }.uniqued
        finding.evidence = [
            Evidence("executions", executions, .count), Evidence("rows", rows, .rows),
            Evidence("time", time, .nanoseconds), Evidence(Self.steps, tuning.before.steps, .count),
            Evidence("stepsAfter", tuning.after.steps, .count),
        ]
        finding.claims = groups.map {
            Claim(
                StatementScanDetector.self, StatementSite(sql: sql, site: $0.key.site), balance: Double($0.totalTime))
        }
        finding.remedy = .statement(
            StatementChange(sql: sql, executions: executions, rows: rows, time: time, kind: .indexes(tuning.code)))
        weigh(&finding, saved, profile)
        if upkeep.time >= gained {
            finding.downgrade(MissingIndexRule.costsMore)
        }
        return finding
    }

    /// The time to maintain the indexes for the rows that the program wrote.
    ///
    /// On the copy, few rows are written at a time, so that the ratio counts and not the times.
    private func upkeep(_ profile: Profile) -> (time: Double, words: [Wording]) {
        var (time, words): (Double, [Wording]) = (0, [])
        for index in tuning.indexes {
            guard let insertion = index.insertion, insertion.with > insertion.without, insertion.without > 0 else {
                continue
            }
            let writes = profile.writes(to: index.table, indexedBy: index.columns + [index.condition].compactMap { $0 })
            let more = Double(writes.time) * (insertion.with / insertion.without - 1)
            guard more > 0 else { continue }
            time += more
            words.append(
                "Maintaining the index on \(index.place) makes writing a row "
                    + "\(decimal: insertion.with / insertion.without, places: 1) times as long on the copy: about "
                    + "\(duration: more) for \(rows: writes.rows) that the program wrote. The saving is net of that.")
        }
        return (time, words)
    }

    private func weigh(_ finding: inout Finding, _ saved: Double, _ profile: Profile) {
        let isLong =
            saved / Double(max(1, executions)) >= Self.leastTime
            || saved >= Self.leastShare * Double(max(profile.wallTime, profile.totals.storeTime))
        if !tuning.resemblesRecording {
            finding.confidence = .low(
                "with values from the copy, the statement takes other steps than in the program; record with --values")
        }
        let share = saved / Double(max(1, profile.wallTime, profile.totals.storeTime))
        if tuning.savedShare < Self.leastPart, share < Self.largeShare {
            finding.downgrade("It saves less than \(percent: Self.leastPart) of the work.")
        } else if !tuning.slower.isEmpty {
            finding.downgrade("It makes \(count: tuning.slower.count, "other statement") slower.")
        } else if saved < Self.leastSaving, tuning.savedShare < Self.nearlyAll {
            finding.downgrade("It saves less than \(duration: Self.leastSaving).")
        } else if !isLong {
            finding.downgrade(
                "It saves less than \(duration: Self.leastTime) per run, and less than \(percent: Self.leastShare) of the "
                    + "whole run.")
        }
    }

    /// A sentence about a table that the statement does not name.
    private var hidden: [Wording] {
        let named = Set(StatementText(sql).conditions.tables.map { $0.lowercased() })
        guard let table = tuning.indexes.map(\.table).first(where: { !named.contains($0.lowercased()) }) else {
            return []
        }
        let cause = groups[0].key.statementType == .write ? "a trigger, a foreign key or a view" : "a view"
        return ["The statement does not name \(entity: table): \(cause) makes SQLite look there."]
    }

    private var title: Wording {
        guard let index = tuning.indexes.first else { return "Run ANALYZE: SQLite misjudges the tables of a statement" }
        let more = tuning.indexes.dropFirst().map { other -> Wording in
            " and on \(other.place)"
        }
        return more.reduce("Create an index on \(index.place)") { $0 + $1 }
            + (tuning.analyzes ? ", and run ANALYZE" : "")
    }

    private var fix: Wording {
        guard !tuning.indexes.isEmpty else {
            return
                "With statistics about the tables, SQLite chooses a better plan. Run ANALYZE again when the data has changed "
                + "much. \(code: "PRAGMA optimize") can look at too few rows for that."
        }
        let isMany = tuning.indexes.count > 1
        let forced: Wording =
            tuning.forcesIndex
            ? " The statement must no longer force or forbid an index (INDEXED BY, NOT INDEXED)." : ""
        let analyzing: Wording =
            tuning.analyzes ? " Without statistics, SQLite does not use \(isMany ? "them" : "it") well." : ""
        let fix: Wording = "SQLite then seeks the rows that it needs, instead of stepping through others."
        return fix + analyzing + forced + partial + temporary
    }

    private var partial: Wording {
        tuning.indexes.contains { $0.condition != nil }
            ? " An index with a condition has those rows only, so that other writes do not touch it; SQLite uses it for statements "
                + "with the same condition."
            : ""
    }

    private var temporary: Wording {
        guard let table = tuning.indexes.first(where: \.isTemporary)?.table else { return "" }
        return " Create it where the program creates the temporary table \(entity: table), or declare the key there."
    }

    private func explanation(_ profile: Profile) -> [Wording] {
        let (before, after) = (tuning.before, tuning.after)
        let whole = profile.knownWallTime ?? 0
        let share: Wording = whole == 0 ? "" : ", \(percent: min(1, Double(time) / Double(whole))) of the run"
        let values: Wording = tuning.hasRecordedValues ? "recorded values" : "values from the copy"
        let verb: Wording = groups[0].key.statementType == .write ? "changed" : "returned"
        let change: Wording = tuning.indexes.isEmpty ? "after ANALYZE" : "with the change"
        return [
            "\(count: executions, "run") of \(code: text) \(verb) \(rows: rows) and took \(duration: time)\(share).",
            "On a copy of the database, \(count: tuning.runs, "run") with \(values) took \(count: before.steps, "step") "
                + "of SQLite's virtual machine and \(duration: before.time), and \(change) \(count: after.steps) and "
                + "\(duration: after.time).",
            "SQLite's plan: \(plan(before)). With the change: \(plan(after)).",
        ] + hidden
            + tuning.slower.map { other in
                "But \(code: Phrase.shortened(StatementText(other.sql).summary, to: 60)) then takes \(count: other.after, "step") "
                    + "instead of \(count: other.before)."
            }
    }

    private func plan(_ work: StatementTuning.Work) -> Wording {
        let lines = work.plan.prefix(4).map { "\(code: $0)" as Wording }
        return lines.isEmpty ? "none" : lines.joined(separator: ", ")
    }

    private func alternatives(_ profile: Profile) -> [Wording] {
        guard let library = profile.library(of: sql) else { return [] }
        return tuning.indexes.filter { !$0.isTemporary }.flatMap { library.indexing($0) }
    }
}

extension StatementTuning.Index {
    /// The table, the columns and the condition.
    fileprivate var place: Wording {
        "\(entity: table)(\(Wording.properties(columns)))" + (condition.map { " where \(code: $0)" } ?? "")
    }
}

extension StatementLibrary {
    /// Sentences about the declaration of an index.
    fileprivate func indexing(_ index: StatementTuning.Index) -> [Wording] {
        let names = index.columns.compactMap { column in
            column.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? column : nil
        }
        let isPlain = names.count == index.columns.count
        if let condition = index.condition { return restricting(index, to: condition, isPlain) }
        if isPlain, names.count == 1 { return indexing(names[0]) }
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        switch self {
        case .django where isPlain:
            return ["In Django, add \(code: "models.Index(fields=[\(list)])") to \(code: "Meta.indexes") of the model."]
        case .django: return ["In Django, run it in a migration: \(code: "migrations.RunSQL(…)")."]
        case .sqlAlchemy where isPlain:
            return [
                "In SQLAlchemy, add \(code: "Index(\"ix_\(([index.table] + names).joined(separator: "_"))\", \(list))") to "
                    + "\(code: "__table_args__")."
            ]
        case .sqlAlchemy:
            return [
                "In SQLAlchemy, \(code: "Index(name, text(\"…\"))") takes an expression or a collation."
            ]
        case .grdb where isPlain: return ["In GRDB, add \(code: "try db.create(index:on:columns:)") to a migration."]
        case .grdb: return ["In GRDB, add \(code: "try db.execute(sql:)") to a migration."]
        case .activeRecord where isPlain:
            let columns = names.map { ":\($0)" }.joined(separator: ", ")
            return ["In Rails, add \(code: "add_index :\(index.table), [\(columns)]") to a migration."]
        case .activeRecord: return ["In Rails, run it in a migration: \(code: "execute \"…\"")."]
        case .peewee where isPlain:
            return ["In Peewee, add \(code: "((\(list)), False)") to \(code: "Meta.indexes") of the model."]
        case .peewee: return ["In Peewee, add it to the model with \(code: "add_index(SQL(\"…\"))")."]
        case .python: return []
        }
    }

    /// Sentences about the declaration of an index of those rows that meet a condition.
    private func restricting(_ index: StatementTuning.Index, to condition: String, _ isPlain: Bool) -> [Wording] {
        let words = condition.split(separator: " ")
        let isNull = words.count == 3, column = words[0]
        switch self {
        case .django where isPlain:
            return [
                "In Django, \(code: "models.Index")'s \(code: "condition=Q(\(column)__isnull=\(isNull ? "True" : "False"))") restricts it; "
                    + "it needs a \(code: "name")."
            ]
        case .sqlAlchemy:
            return ["In SQLAlchemy, \(code: "Index")'s \(code: "sqlite_where=text(\"\(condition)\")") restricts it."]
        case .grdb:
            return ["In GRDB, \(code: "condition:") of \(code: "db.create(index:on:columns:condition:)") restricts it."]
        case .activeRecord:
            return ["In Rails, \(code: "add_index")'s \(code: "where: \"\(condition)\"") restricts it."]
        case .peewee: return ["In Peewee, add it to the model with \(code: "add_index(SQL(\"…\"))")."]
        case .django: return ["In Django, run it in a migration: \(code: "migrations.RunSQL(…)")."]
        case .python: return []
        }
    }
}
