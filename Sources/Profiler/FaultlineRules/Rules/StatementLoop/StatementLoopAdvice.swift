internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R27's findings.
struct StatementLoopAdvice {
    let statement: StatementText
    private let key: StatementSite
    private let evidence: StatementLoopEvidence
    private let origin: (statement: StatementSite, text: StatementText, rows: UInt64)?
    private let library: StatementLibrary?
    /// The advice if each run precedes a write of the row that it looks for.
    private let beforeWrite: LookBeforeWrite?

    /// Whether the statement whose rows the loop goes through runs in a loop itself.
    private let isNested: Bool

    /// - Parameter loops: The statements that run in loops.
    init(_ key: StatementSite, _ evidence: StatementLoopEvidence, among loops: Set<StatementSite> = []) {
        (self.key, self.evidence) = (key, evidence)
        statement = StatementText(unwrapping: key.sql)
        beforeWrite = LookBeforeWrite(statement, evidence)
        let most = evidence.origins.max { ($0.value, $1.key.sortText) < ($1.value, $0.key.sortText) }
        // A statement without values does not depend on the rows of another.
        // Nor does a statement that reads an object again.
        origin =
            statement.hasValues && !evidence.readsExpired
            ? most.map { ($0.key, StatementText($0.key.sql), $0.value) } : nil
        library = StatementLibrary(names: evidence.libraries)
        isNested = origin.map { loops.contains($0.statement) } ?? false
    }

    /// How the looked-up rows belong to the rows of the origin.
    private enum Relation {
        /// A row of the origin names the row by a column, such as `author_id` or `authorId`.
        case toOne(name: String, column: String)
        /// A row of the origin names several rows, one of which it may be.
        case oneOf(names: [String])
        /// The rows name a row of the origin by a column; the relationship may have a name.
        case toMany(column: String, name: String?)
        /// At most one row names a row of the origin by a column.
        case toOneBack(column: String)
        /// It is asked whether a row names a row of the origin by a column.
        case existence(column: String)
        /// The first one, in an order, of the rows that name a row of the origin by a column.
        case first(column: String)
    }

    /// The relation, if the names of tables and columns show it.
    private var relation: Relation? {
        guard let table = statement.table, let column = statement.comparedColumn, let origin else { return nil }
        if Self.isKey(column) {
            let last = table.split(separator: "_").last.map { $0.lowercased() } ?? table
            let keys = origin.text.columns.compactMap { key in Self.referred(by: key).map { (name: $0, column: key) } }
            let named = keys.filter { key in
                Self.isSame(key.name.lowercased(), last) || Self.isSame(key.name.lowercased(), table.lowercased())
            }
            if let key = named.first ?? (keys.count == 1 ? keys.first : nil) {
                return .toOne(name: key.name, column: key.column)
            }
            if keys.count > 1 { return .oneOf(names: keys.map(\.name)) }
            // GRDB selects all columns of a record, without their names, and names associations like tables.
            guard library == .grdb, origin.text.columns.isEmpty else { return nil }
            return .toOne(name: table, column: table + "Id")
        }
        guard Self.referred(by: column) != nil else { return nil }
        // A mapper that expects one row limits their number, and does not order them.
        if statement.isLimited, !statement.isAggregated {
            // Django selects 1, which older versions have in parentheses.
            let isNothing = statement.columns.isEmpty && statement.selection.trimmingPrefix("(").hasPrefix("?")
            if isNothing { return .existence(column: column) }
            return statement.sortKeys.isEmpty ? .toOneBack(column: column) : .first(column: column)
        }
        // The table between two others is often named after the relationship: blog_post_tags.
        let between = statement.conditions.equalities.first?.table
        let prefix = (origin.text.table ?? "") + "_"
        let name = between.flatMap { $0 != table && $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
        return .toMany(column: column, name: name)
    }

    /// The name of a relationship to many rows, as programs usually choose it: `tracks` for a table `track`.
    private var plural: String {
        let prefix = (origin?.text.table ?? "") + "_"
        let table = statement.table ?? ""
        return StatementLibrary.plural(table.hasPrefix(prefix) ? String(table.dropFirst(prefix.count)) : table)
    }

    /// Whether the statement has conditions beyond the relationship, so that loading all related rows is no replacement.
    private var isFiltered: Bool {
        statement.conditions.equalities.count > 1
            || statement.conditions.places.contains { place in
                if case .column(_, let name) = place.slot { return name != statement.comparedColumn }
                return false
            }
    }

    /// Whether the statement aggregates the rows that belong to each object of a page.
    private var aggregatesForPage: Bool { statement.isAggregated && origin?.text.isLimited == true }

    /// The name in a column that has the key of another row: `author` in `author_id` and in `authorId`.
    private static func referred(by column: String) -> String? {
        if column.lowercased().hasSuffix("_id"), column.count > 3 { return String(column.dropLast(3)) }
        if column.hasSuffix("Id"), column.count > 2 { return String(column.dropLast(2)) }
        return nil
    }

    /// Django's name of a foreign key's field.
    private static func field(_ column: String) -> String { referred(by: column) ?? column }

    private static func isKey(_ column: String) -> Bool { ["id", "rowid", "pk"].contains(column.lowercased()) }

    /// Whether a table's name is that of one of its rows, or its plural.
    private static func isSame(_ name: String, _ table: String) -> Bool {
        table == name || table == name + "s" || table == name + "es" || name.hasSuffix("_" + table)
    }

    /// The line to change: that of the statement whose rows the loop iterates over, if it is known.
    var change: CallSite? { beforeWrite == nil ? origin?.statement.site ?? key.site : key.site }

    /// Whether one statement can read what all runs read.
    var canReadTogether: Bool { beforeWrite == nil }

    var subject: Wording { statement.table.map { "\(entity: $0)" } ?? "the rows" }

    private var originName: Wording { "\(entity: origin?.text.table ?? "")" }

    var title: Wording {
        if let beforeWrite { return beforeWrite.title }
        guard statement.hasValues else { return "Read \(subject) once instead of \(count: perLoop) times" }
        return switch (library, relation) {
        case (.django?, .toOne(let name, _)?):
            "Add \(code: "select_related(\"\(name)\")") to the query of \(originName)"
        case (.django?, .oneOf?), (.django?, .toOneBack?):
            "Add \(code: "select_related") for \(subject) to the query of \(originName)"
        case (.django?, .existence?), (.django?, .first?), (.sqlAlchemy?, .existence?), (.sqlAlchemy?, .first?):
            "Ask for \(subject) within the query of \(originName)"
        case (.django?, .toMany?) where aggregatesForPage:
            "Aggregate \(subject) with one statement for the page of \(originName)"
        case (.django?, .toMany?) where statement.isAggregated: "Add \(code: "annotate") to the query of \(originName)"
        case (.django?, .toMany?): "Add \(code: "prefetch_related") for \(subject) to the query of \(originName)"
        case (.sqlAlchemy?, .some) where statement.isAggregated:
            "Aggregate \(subject) with one statement for all rows of \(originName)"
        case (.sqlAlchemy?, .some): "Load \(subject) eagerly with the query of \(originName)"
        case (.activeRecord?, .some) where !statement.isAggregated:
            "Add \(code: "includes") for \(subject) to the query of \(originName)"
        case (.grdb?, .some): "Include \(subject) in the request of \(originName)"
        default: "Read \(subject) with one statement instead of \(count: perLoop)"
        }
    }

    var fix: Wording {
        if let beforeWrite { return beforeWrite.fix }
        guard statement.hasValues else {
            return "The statement has no parameters, so it returns the same rows until something is written. Keep them."
        }
        return switch (library, relation) {
        case (.django?, .toOne?), (.django?, .oneOf?), (.django?, .toOneBack?):
            "Django then reads both tables with one statement, a join."
        case (.django?, .existence?), (.django?, .first?):
            "SQLite then looks for the row within the query. A related manager that filters, orders or asks exists() ignores what "
                + "prefetch_related has read."
        case (.django?, .toMany?) where aggregatesForPage:
            "SQLite then aggregates the rows of this page alone. With annotate, it would aggregate those of all objects before the limit."
        case (.django?, .toMany?) where statement.isAggregated:
            "SQLite then aggregates the related rows within the query."
        case (.django?, .toMany?): "Django then reads the related rows of all objects with one more statement."
        case (.sqlAlchemy?, .existence?), (.sqlAlchemy?, .first?):
            "SQLite then looks for the row within the query, with a subquery: \(code: "exists()"), or "
                + "\(code: "select(…).order_by(…).limit(1).scalar_subquery()")."
        case (.sqlAlchemy?, .some) where statement.isAggregated:
            "SQLite then aggregates the rows of each object in one pass."
        case (.sqlAlchemy?, .some):
            "SQLAlchemy then reads the related rows of all objects with one more statement, or with a join."
        case (.activeRecord?, .some) where !statement.isAggregated:
            "Rails then reads the associated records of all records with one more statement."
        case (.grdb?, .some):
            "GRDB then reads the associated rows of all records with one more statement, or with a join."
        default:
            statement.comparedColumn != nil
                ? origin == nil
                    ? "Collect the values first, and compare with all of them at once."
                    : "Join the tables, or collect the values first and compare with all of them at once."
                : "Read the rows of all runs with one statement, or keep them if the values repeat."
        }
    }

    var code: [String] {
        if let beforeWrite { return beforeWrite.code(library) }
        let name = StatementLibrary.modelName(of: origin?.text.table)
        switch (library, relation) {
        case (.django?, let relation?): return django(relation, name)
        case (.sqlAlchemy?, .toOne(let field, _)?): return ["select(\(name)).options(joinedload(\(name).\(field)))"]
        case (.sqlAlchemy?, .existence?), (.sqlAlchemy?, .first?): return sql
        case (.sqlAlchemy?, .toMany(let column, _)?) where statement.selection.lowercased().hasPrefix("count("):
            let owner = "\(StatementLibrary.modelName(of: statement.table)).\(column)"
            return ["session.execute(select(\(owner), func.count()).where(\(owner).in_(…)).group_by(\(owner)))"]
        case (.sqlAlchemy?, .toMany?), (.sqlAlchemy?, .toOneBack?):
            return statement.isAggregated ? sql : ["select(\(name)).options(selectinload(\(name).\(plural)))"]
        case (.activeRecord?, .toOne(let field, _)?): return ["\(name).includes(:\(field))"]
        case (.activeRecord?, .toMany?) where !statement.isAggregated: return ["\(name).includes(:\(plural))"]
        case (.grdb?, .toOne(let field, _)?): return ["\(name).including(required: \(name).\(field))"]
        case (.grdb?, .toMany?) where !statement.isAggregated: return ["\(name).including(all: \(name).\(plural))"]
        default: return sql
        }
    }

    private func django(_ relation: Relation, _ name: String) -> [String] {
        let other = StatementLibrary.modelName(of: statement.table), reverse = other.lowercased()
        switch relation {
        case .toOne(let field, _): return ["\(name).objects.select_related(\"\(field)\")"]
        case .oneOf(let names):
            let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
            return ["\(name).objects.select_related(\(list))  # the one that the loop reads"]
        case .toOneBack: return ["\(name).objects.select_related(\"\(reverse)\")  # or its related_name"]
        case .existence(let column):
            return [
                "\(name).objects.annotate(found=Exists(\(other).objects.filter(\(Self.field(column))=OuterRef(\"pk\"))))"
            ]
        case .first(let column):
            return [
                "first = \(other).objects.filter(\(Self.field(column))=OuterRef(\"pk\")).order_by(…)",
                "\(name).objects.annotate(first=Subquery(first.values(\"pk\")[:1]))",
            ]
        case .toMany(let column, let related) where aggregatesForPage:
            let field = Self.referred(by: column) ?? name.lowercased(), prefix = (origin?.text.table ?? "") + "_"
            // The table between two others can be the only one of the statement.
            let between = statement.table.flatMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
            let model = (related ?? between).map { "\(name).\($0).through" } ?? other
            return [
                "counts = dict(\(model).objects.filter(\(field)__in=page).values_list(\"\(field)\").annotate(Count(\"pk\")))"
            ]
        case .toMany where statement.isAggregated:
            return ["\(name).objects.annotate(Count(\"\(reverse)\"))  # or its related_name"]
        case .toMany(_, let related):
            let field = related ?? "\(reverse)_set", remark = related == nil ? "  # or its related_name" : ""
            guard isFiltered else { return ["\(name).objects.prefetch_related(\"\(field)\")\(remark)"] }
            return [
                "related = Prefetch(\"\(field)\", queryset=\(other).objects.filter(…), to_attr=\"…\")\(remark)",
                "\(name).objects.prefetch_related(related)",
            ]
        }
    }

    /// One statement for all values, if it is certain to return the same rows.
    private var sql: [String] {
        let quoted = StatementText.quoted
        guard statement.hasValues, statement.comparesOnlyThat, !statement.hasDistinctOrWindows,
            let table = statement.table,
            let column = statement.comparedColumn
        else { return [] }
        if !statement.isAggregated, case .toOne(_, let key)? = relation, let outer = origin?.text.table {
            let selected = statement.columns.count == 1 ? quoted(statement.columns[0]) : "*"
            let (outer, table, column, key) = (quoted(outer), quoted(table), quoted(column), quoted(key))
            return [
                "SELECT \(outer).*, \(table).\(selected) FROM \(outer) JOIN \(table) ON \(table).\(column) = \(outer).\(key)"
                    + (origin?.text.isWholeTable == false ? " …" : "")
            ]
        }
        let (name, source) = (quoted(column), quoted(table))
        let isSelected = statement.columns.contains(column) || statement.selection == "*"
        let selected = statement.selection.count <= 60 || statement.isAggregated ? statement.selection : "…"
        return [
            "SELECT \(isSelected && !statement.isAggregated ? "" : "\(name), ")\(selected) FROM \(source) WHERE \(name) IN (?, ?, …)"
                + (statement.isAggregated ? " GROUP BY \(name)" : "")
        ]
    }

    /// The language of ``code``.
    var language: String {
        if let beforeWrite { return beforeWrite.language(library) }
        guard statement.hasValues, relation != nil, let library else { return "sql" }
        return code == sql ? "sql" : library.language
    }

    private var perLoop: UInt64 { evidence.executions / max(1, evidence.occurrences) }

    var explanation: [Wording] {
        var sentences: [Wording] = []
        let loops: Wording =
            evidence.occurrences == 1 ? "" : " in \(count: evidence.occurrences) loops of about \(count: perLoop)"
        let each: Wording
        if let origin {
            let site: Wording = origin.statement.site.map { " at \(site: $0)" } ?? ""
            let all = evidence.executions &* 10 >= origin.rows &* 9
            each =
                (all
                    ? ", one for each row of "
                    : ", for \(count: evidence.executions) of the \(rows: origin.rows, "row") of ")
                + "\(code: Phrase.shortened(origin.text.summary, to: 90))\(site)"
        } else {
            each = ""
        }
        // Logs round short times down to nothing.
        let between: Wording = evidence.waiting > 0 ? ", and \(duration: evidence.waiting) between them" : ""
        let times: Wording = evidence.time > 0 ? ": \(duration: evidence.time) in SQLite\(between)" : ""
        sentences.append(
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(statement.summary, to: 90))\(loops)\(each)"
                + "\(times).")
        if language != "sql", !code.isEmpty {
            sentences.append("The names in the code are derived from those of tables and columns.")
        }
        if let beforeWrite { sentences.append(beforeWrite.explanation) }
        sentences += evidence.callers.sentences
        return sentences
    }

    /// The call that loads the rows with those of another statement, which the trace does not show.
    private var eagerLoading: String? {
        guard origin == nil, evidence.rows == 0, beforeWrite == nil, !statement.isAggregated,
            let table = statement.table,
            let column = statement.comparedColumn
        else { return nil }
        let isKey = Self.isKey(column)
        guard isKey || Self.referred(by: column) != nil else { return nil }
        let last = table.split(separator: "_").last.map(String.init) ?? table
        let name = isKey ? StatementLibrary.singular(last.lowercased()) : StatementLibrary.plural(last.lowercased())
        return switch library {
        case .django:
            isKey ? "select_related(\"\(name)\")" : "prefetch_related(\"\(StatementLibrary.singular(name))_set\")"
        case .sqlAlchemy: "options(selectinload(….\(name)))"
        case .activeRecord: "includes(:\(name))"
        case .grdb: isKey ? "including(required: ….\(name))" : "including(all: ….\(name))"
        case .peewee, .python, nil: nil
        }
    }

    var alternatives: [Wording] {
        if let eagerLoading {
            return ["If the loop visits the rows of another query, add \(code: eagerLoading) to that query."]
        }
        guard let relation, !statement.isAggregated, beforeWrite == nil else { return [] }
        let name = StatementLibrary.modelName(of: origin?.text.table)
        let relationship: String
        switch relation {
        case .existence, .first: return []
        case .toOne(let field, _): relationship = field
        case .oneOf(let names): relationship = names.first ?? plural
        case .toMany, .toOneBack: relationship = plural
        }
        switch library {
        case .sqlAlchemy:
            let chain: [Wording] = [
                "The rows of \(originName) are loaded in a loop, too: append "
                    + "\(code: ".selectinload(\(name).\(relationship))") to the option that loads them."
            ]
            return (isNested ? chain : []) + ["Set \(code: "lazy=\"selectin\"") on the relationship."]
        case .django where isNested:
            return [
                "The rows of \(originName) are loaded in a loop, too: name both steps in one "
                    + "\(code: "prefetch_related(\"…__\(relationship)\")")."
            ]
        default: return []
        }
    }

    /// How far the advice can be trusted: the names of a mapper's classes and relations are derived from those of tables.
    var confidence: Confidence {
        if beforeWrite != nil { return .medium("the program may need what it reads for something else") }
        if !statement.hasValues { return .low("something may have been written in between") }
        if origin == nil { return .medium("the rows that the loop goes through are not known") }
        let readsAll = evidence.executions &* 10 >= (origin?.rows ?? 0) &* 9
        if !readsAll { return .medium("the runs may belong to other work than the rows of that statement") }
        return library == nil || library == .python || library == .peewee
            ? .high : .medium("the names of classes are derived from those of tables")
    }
}

extension Finding {
    /// Advises to keep objects loaded that SQLAlchemy reads again because a commit expired them.
    ///
    /// The finding has no remedy to try: the setting is the session's, and not the statement's.
    ///
    /// - Parameter subject: The table that the objects belong to.
    mutating func adviseNotExpiring(_ subject: Wording) {
        title = "Do not let each commit expire the objects of \(subject)"
        fix = "A commit expires all objects of a session, and SQLAlchemy reads each one again when the program uses it."
        code = ["Session(engine, expire_on_commit=False)"]
        codeLanguage = StatementLibrary.sqlAlchemy.language
        alternatives = ["If another connection may have changed the rows, read all of them again with one statement."]
        confidence = .medium("the program may need the rows as they are after the commit")
    }
}
