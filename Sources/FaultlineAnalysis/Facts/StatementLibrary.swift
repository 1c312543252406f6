internal import FaultlineTrace

/// A library that runs statements for a program, in whose words advice is given.
///
/// Of several on a stack, the first one counts: a mapper runs its statements through others.
enum StatementLibrary: String, Sendable, CaseIterable {
    /// Django's object-relational mapper.
    case django
    case sqlAlchemy
    case peewee
    case grdb
    /// Python without a mapper.
    case python

    /// The library's name, as its users write it.
    var name: Wording {
        switch self {
        case .django: "Django"
        case .sqlAlchemy: "SQLAlchemy"
        case .peewee: "Peewee"
        case .grdb: "GRDB"
        case .python: "Python"
        }
    }

    /// The language of a program's code that uses the library.
    var language: String { self == .grdb ? "swift" : "python" }

    /// The library on a stack, or `nil` if it has none.
    init?(_ frames: [FrameEntry]) {
        let found = Set(frames.flatMap { frame in frame.locations.compactMap { Self.library(of: $0, in: frame) } })
        self.init(names: Set(found.map(\.rawValue)))
    }

    /// The library among those in evidence, or `nil` if there is none.
    init?(names: Set<String>) {
        guard let first = Self.allCases.first(where: { names.contains($0.rawValue) }) else { return nil }
        self = first
    }

    /// Whether a mapper keeps all rows of the result in memory: Django's querysets without `iterator()`, GRDB's `fetchAll`.
    static func keepsAllRows(_ frames: [FrameEntry]) -> Bool {
        frames.contains { frame in
            frame.locations.contains { location in
                frame.isPython
                    ? location.file.contains("/django/") && location.function.hasSuffix("_fetch_all")
                    : isOfGRDB(location.function) && location.function.contains(".fetchAll")
            }
        }
    }

    /// Whether SQLAlchemy reads an object again because it expired: at a commit, a rollback or a call of `expire`.
    static func readsExpired(_ frames: [FrameEntry]) -> Bool {
        frames.contains { frame in
            frame.isPython
                && frame.locations.contains {
                    $0.file.contains("/sqlalchemy/") && $0.function.hasSuffix("_load_expired")
                }
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
        case .peewee: [#"with database.atomic("IMMEDIATE"):"#]
        case .python: [#"connection.execute("BEGIN IMMEDIATE")"#]
        }
    }

    /// Whether a function is GRDB's own: its types stand in the names of the program's functions, too.
    private static func isOfGRDB(_ function: String) -> Bool {
        function.hasPrefix("GRDB.") || function.contains("(extension in GRDB):GRDB.")
    }

    private static func library(of location: FrameEntry.Location, in frame: FrameEntry) -> StatementLibrary? {
        guard frame.isPython else { return isOfGRDB(location.function) ? .grdb : nil }
        if location.file.contains("/django/") { return .django }
        if location.file.contains("/sqlalchemy/") { return .sqlAlchemy }
        return location.file.hasSuffix("/peewee.py") ? .peewee : .python
    }
}
