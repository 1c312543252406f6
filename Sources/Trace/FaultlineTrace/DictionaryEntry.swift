/// An entry of a trace's dictionary, which events refer to by number.
///
/// The trace stores the entry's value as JSON, under the keys named here.
public enum DictionaryEntry: Sendable, Hashable {
    /// An entity and its properties.
    case entity(EntityEntry)
    /// A fetch request without its values.
    case shape(ShapeEntry)
    /// The text of a statement.
    case statement(StatementEntry)
    /// SQLite's plan of a statement.
    case plan(PlanEntry)
    /// A line of the program.
    case site(SiteEntry)
    /// A call stack.
    case stack(StackEntry)
    /// A program or library that was mapped into the process.
    case module(ModuleEntry)
    /// The functions at an address.
    case frame(FrameEntry)
    /// The name of a relationship or a scope.
    case name(NameEntry)
    /// A managed object context.
    case context(ContextEntry)
    /// A thread.
    case thread(ThreadEntry)
    /// The use of a relationship's destination.
    case destinationUse(DestinationUseEntry)
    /// The costs that were measured on the machine.
    case calibration(CalibrationEntry)
}

/// An entity of the store's model.
public struct EntityEntry: Sendable, Hashable, Codable {
    /// A property, in the order that ``TraceEvent/Use/Property/index`` counts.
    public struct Property: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The attribute's type in Core Data's words (`"String"`, `"Binary"`), or `"toOne"`, `"toMany"`.
        public var type: String
        /// The line that declares the property, if the model was made in code: `"Groceries/Model.swift:12"`.
        public var declaredAt: String?
        /// Whether large values are stored in files beside the store.
        public var isExternal: Bool?
        /// The entity at the other end of a relationship.
        public var destination: String?
        /// The inverse to-one relationship; `nil` if there is none, or the recorder is older.
        public var inverse: String?

        /// Creates a property.
        public init(
            name: String, type: String, declaredAt: String? = nil, isExternal: Bool? = nil, destination: String? = nil,
            inverse: String? = nil
        ) {
            self.name = name
            self.type = type
            self.declaredAt = declaredAt
            self.isExternal = isExternal
            self.destination = destination
            self.inverse = inverse
        }
    }

    /// The name.
    public var name: String
    /// The root entity of its inheritance tree, whose table holds its rows; `nil` for itself, or if the recorder is
    /// older.
    public var root: String?
    /// The properties, in the order that events count them.
    public var properties: [Property]
    /// The limit of the store's row cache in bytes: rows kept in memory that no object uses; `nil` if the recorder is
    /// older.
    public var rowCacheLimit: UInt64?

    /// Creates an entry.
    public init(name: String, root: String? = nil, properties: [Property] = [], rowCacheLimit: UInt64? = nil) {
        self.name = name
        self.root = root
        self.properties = properties
        self.rowCacheLimit = rowCacheLimit
    }
}

/// The text of a statement, with `?` for bound values.
public struct StatementEntry: Sendable, Hashable, Codable {
    /// The SQL.
    public var sql: String
    /// The names of the columns of a row, if the trace was recorded with `--columns`; otherwise `nil`.
    public var columns: [String]?
    /// The path of the database file that the statement was run on; `nil` for a database in memory, or the ninth and any
    /// further file of a program.
    public var file: String?
    /// The names of the databases that were attached to the connection when the statement first ran, and their files; `nil` if
    /// there were none, or SQLite is older than 3.39.
    public var attached: [String: String]?

    /// Creates an entry.
    public init(sql: String, columns: [String]? = nil, file: String? = nil, attached: [String: String]? = nil) {
        self.sql = sql
        self.columns = columns
        self.file = file
        self.attached = attached
    }

    /// Returns the table that an alias stands for, or `nil`: `ZITEM` for `t0` in `… FROM ZITEM t0 …`.
    package func table(of alias: some StringProtocol) -> String? {
        let words = sql.split(separator: " ")
        let position = words.indices.dropFirst(2).first { position in
            words[position] == alias && ["FROM", "JOIN"].contains(words[position - 2].uppercased())
        }
        return position.map { String(words[$0 - 1]) }
    }
}

/// SQLite's plan for a statement (`EXPLAIN QUERY PLAN`).
public struct PlanEntry: Sendable, Hashable, Codable {
    /// One line of the plan.
    public struct Row: Sendable, Hashable, Codable {
        /// SQLite's number of the line.
        public var id: Int
        /// The number of the line that this one belongs to; 0 if there is none.
        public var parent: Int
        /// SQLite's description: `"SCAN t0"`.
        public var detail: String
        /// The number of rows that SQLite expects each run of the step to visit, from the statistics of `ANALYZE`;
        /// `nil` if there are none or they do not apply.
        public var expectedRows: Int?
        /// The table that the step visits; `nil` if there is none, or the recorder is older.
        public var table: String?
        /// The table's indexes on plain columns over all rows, each as its columns separated by commas:
        /// `"ZLIST,ZNAME"`.
        ///
        /// A collation other than `BINARY` and a descending order follow the column: `"ZNAME COLLATE NOCASE DESC"`.
        /// `nil` if there is no table, or the recorder is older.
        public var indexes: [String]?
        /// The unique ones among ``indexes``; `nil` if there are none.
        public var uniqueIndexes: [String]?

        /// Creates a line.
        public init(
            id: Int, parent: Int, detail: String, expectedRows: Int? = nil, table: String? = nil,
            indexes: [String]? = nil, uniqueIndexes: [String]? = nil
        ) {
            self.id = id
            self.parent = parent
            self.detail = detail
            self.expectedRows = expectedRows
            self.table = table
            self.indexes = indexes
            self.uniqueIndexes = uniqueIndexes
        }
    }

    /// The lines, in SQLite's order.
    public var rows: [Row]

    /// Creates an entry.
    public init(rows: [Row]) {
        self.rows = rows
    }
}

/// A call site that the compiler recorded.
public struct SiteEntry: Sendable, Hashable, Codable {
    /// `#fileID`: `"Module/File.swift"`.
    public var file: String
    /// The line.
    public var line: Int
    /// The function, as `#function` gives it; empty if it is unknown.
    public var function: String

    /// Creates an entry.
    public init(file: String, line: Int, function: String = "") {
        self.file = file
        self.line = line
        self.function = function
    }
}

/// A call stack: return addresses, innermost first.
public struct StackEntry: Sendable, Hashable, Codable {
    /// Addresses in the process, as hexadecimal numbers with `0x`.
    public var frames: [String]
    /// Whether the walk ended before the stack did.
    public var isTruncated: Bool?

    /// Creates an entry.
    public init(frames: [String], isTruncated: Bool? = nil) {
        self.frames = frames
        self.isTruncated = isTruncated
    }

    /// The addresses as numbers, without frames that are not numbers.
    public var addresses: [UInt64] {
        frames.compactMap { UInt64($0.dropFirst(2), radix: 16) }
    }
}

/// A program or library that was mapped into the process.
public struct ModuleEntry: Sendable, Hashable, Codable {
    /// The path of the file.
    public var path: String
    /// The difference between an address in the process and in the file, as a hexadecimal number with `0x`.
    public var bias: String
    /// The first address of the module, as a hexadecimal number with `0x`.
    public var start: String
    /// The address after the module's last, as a hexadecimal number with `0x`.
    public var end: String
    /// The build ID in hexadecimal digits; empty if the module has none.
    public var buildID: String

    /// Creates an entry.
    public init(path: String, bias: String, start: String, end: String, buildID: String) {
        self.path = path
        self.bias = bias
        self.start = start
        self.end = end
        self.buildID = buildID
    }
}

/// The functions and lines at an address.
public struct FrameEntry: Sendable, Hashable, Codable {
    /// One function at the address; there are several if calls were inlined.
    public struct Location: Sendable, Hashable, Codable {
        /// The mangled symbol, as the linker knows it.
        public var symbol: String
        /// The demangled symbol: `"Groceries.showList(page: Int) -> ()"`.
        public var function: String
        /// The source file's path; empty if it is not known.
        public var file: String
        /// The line; 0 if it is not known.
        public var line: Int

        /// Creates a location.
        public init(symbol: String, function: String, file: String = "", line: Int = 0) {
            self.symbol = symbol
            self.function = function
            self.file = file
            self.line = line
        }
    }

    /// The address, as a hexadecimal number with `0x`.
    public var address: String
    /// The file name of the module that holds it.
    public var module: String
    /// The functions, innermost first: an inlined function comes before the one it was inlined into.
    public var locations: [Location]

    /// Creates an entry.
    public init(address: String, module: String, locations: [Location]) {
        self.address = address
        self.module = module
        self.locations = locations
    }
}

/// A name that events refer to: that of a relationship or a scope.
public struct NameEntry: Sendable, Hashable, Codable {
    /// The name.
    public var name: String

    /// Creates an entry.
    public init(name: String) {
        self.name = name
    }
}

/// A managed object context.
public struct ContextEntry: Sendable, Hashable, Codable {
    /// The name that the program gave the context.
    public var name: String
    /// `"mainQueue"` or `"privateQueue"`.
    public var concurrency: String

    /// Creates an entry.
    public init(name: String, concurrency: String) {
        self.name = name
        self.concurrency = concurrency
    }
}

/// A thread of the recorded process.
public struct ThreadEntry: Sendable, Hashable, Codable {
    /// The kernel's number of the thread.
    public var thread: UInt32
    /// The name of the thread.
    public var name: String
    /// Whether it is the main thread.
    public var isMain: Bool

    /// Creates an entry.
    public init(thread: UInt32, name: String, isMain: Bool) {
        self.thread = thread
        self.name = name
        self.isMain = isMain
    }
}
