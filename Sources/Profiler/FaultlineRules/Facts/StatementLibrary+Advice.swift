internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

// The words of advice about statements.

extension StatementLibrary {
    /// The library's name, as its users write it.
    var name: Wording {
        switch self {
        case .django: "Django"
        case .sqlAlchemy: "SQLAlchemy"
        case .peewee: "Peewee"
        case .grdb: "GRDB"
        case .activeRecord: "Rails"
        case .python: "Python"
        }
    }

    /// The language of a program's code that uses the library.
    var language: String {
        switch self {
        case .grdb: "swift"
        case .activeRecord: "ruby"
        case .django, .sqlAlchemy, .peewee, .python: "python"
        }
    }

    /// The class that a mapper would have for a table: `Author` for `shop_author` and for `authors`.
    static func modelName(of table: String?) -> String {
        let last = singular(table?.split(separator: "_").last.map(String.init) ?? "Model")
        return last.prefix(1).uppercased() + last.dropFirst()
    }

    /// The singular of a noun, by the rules for regular ones.
    static func singular(_ noun: String) -> String {
        let isPlural =
            noun.count > 3 && noun.hasSuffix("s") && !["ss", "us", "is", "ews"].contains { noun.hasSuffix($0) }
        guard isPlural else { return noun }
        if noun.hasSuffix("ies") { return noun == "series" ? noun : noun.dropLast(3) + "y" }
        return String(
            ["sses", "ches", "shes", "xes"].contains { noun.hasSuffix($0) } ? noun.dropLast(2) : noun.dropLast())
    }

    /// The plural of a noun, by the rules for regular ones.
    static func plural(_ noun: String) -> String {
        guard singular(noun) == noun, !noun.hasSuffix("ews"), noun != "series" else { return noun }
        if noun.hasSuffix("y"), let before = noun.dropLast().last, !"aeiou".contains(before) {
            return noun.dropLast() + "ies"
        }
        return noun + (["s", "x", "ch", "sh"].contains { noun.hasSuffix($0) } ? "es" : "s")
    }

    /// Sentences about the declaration of an index on a column.
    func indexing(_ column: String) -> [Wording] {
        switch self {
        case .django: ["In Django, set \(code: "db_index=True") on the field \(property: column)."]
        case .sqlAlchemy: ["In SQLAlchemy, set \(code: "index=True") on the column \(property: column)."]
        case .grdb: ["In GRDB, add \(code: "try db.create(indexOn:columns:)") to a migration."]
        case .activeRecord: ["In Rails, add \(code: "add_index :table, :\(column)") to a migration."]
        case .peewee: ["In Peewee, set \(code: "index=True") on the field \(property: column)."]
        case .python: []
        }
    }

    /// The code that begins a transaction with SQLite's lock.
    var immediateTransaction: [String] {
        switch self {
        case .django: ["# in DATABASES, Django 5.1 or later", #""OPTIONS": {"transaction_mode": "IMMEDIATE"}"#]
        case .sqlAlchemy:
            [
                #"@event.listens_for(engine, "begin")"#, "def begin(connection):",
                #"    connection.exec_driver_sql("BEGIN IMMEDIATE")"#,
            ]
        case .grdb: ["try db.inTransaction(.immediate) { … }"]
        case .activeRecord: ["# in database.yml, Rails 7.1 or later", "default_transaction_mode: immediate"]
        case .peewee: [#"with database.atomic("IMMEDIATE"):"#]
        case .python: [#"connection.execute("BEGIN IMMEDIATE")"#]
        }
    }
}

extension StatementSite {
    /// A sentence about a line in an installed package, or `nil` if it is in the program's own code.
    var reservation: Wording? {
        guard let site, site.isInInstalledPackage else { return nil }
        return
            """
            The line is in an installed package: no other code of the program was on the stack, as in an installed command or in \
            a thread of a library.
            """
    }
}
