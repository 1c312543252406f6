/// An entry of a trace's dictionary: what an event refers to by number.
///
/// The JSON that stands in the trace is the encoding of the entry's value with its keys as they are named here.
public enum DictionaryEntry: Sendable, Hashable {
    case entity(EntityEntry)
    case shape(ShapeEntry)
    case statement(StatementEntry)
    case plan(PlanEntry)
    case site(SiteEntry)
    case stack(StackEntry)
    case module(ModuleEntry)
    case frame(FrameEntry)
    case name(NameEntry)
    case context(ContextEntry)
    case thread(ThreadEntry)
    case destinationUse(DestinationUseEntry)
    case calibration(CalibrationEntry)
}

/// An entity of the store's model.
public struct EntityEntry: Sendable, Hashable, Codable {
    /// A property, in the order that ``TraceEvent/Use/Property/index`` counts.
    public struct Property: Sendable, Hashable, Codable {
        public var name: String
        /// The attribute's type in Core Data's words (`"String"`, `"Binary"`), or `"toOne"`, `"toMany"`.
        public var type: String
        /// Where the property is declared, if the model was made in code: `"Groceries/Model.swift:12"`.
        public var declaredAt: String?
        /// Whether large values live in files beside the store.
        public var isExternal: Bool?
        /// The entity at the other end of a relationship.
        public var destination: String?
        /// The to-one relationship that leads back; `nil`: none, or an older recorder.
        public var inverse: String?

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

    public var name: String
    /// The entity at the top of its inheritance tree, whose table has its rows; `nil`: itself, or an older recorder.
    public var root: String?
    public var properties: [Property]
    /// Bytes of rows that its store keeps in memory although no object uses them; `nil`: an older recorder.
    public var rowCacheLimit: UInt64?

    public init(name: String, root: String? = nil, properties: [Property] = [], rowCacheLimit: UInt64? = nil) {
        self.name = name
        self.root = root
        self.properties = properties
        self.rowCacheLimit = rowCacheLimit
    }
}

/// The text of a statement, with `?` for bound values.
public struct StatementEntry: Sendable, Hashable, Codable {
    public var sql: String

    public init(sql: String) {
        self.sql = sql
    }

    /// The table that an alias stands for: `ZITEM` for `t0` in `… FROM ZITEM t0 …`; `nil`: none.
    package func table(of alias: some StringProtocol) -> String? {
        let words = sql.split(separator: " ")
        let place = words.indices.dropFirst(2).first { place in
            words[place] == alias && ["FROM", "JOIN"].contains(words[place - 2].uppercased())
        }
        return place.map { String(words[$0 - 1]) }
    }
}

/// SQLite's plan for a statement (`EXPLAIN QUERY PLAN`).
public struct PlanEntry: Sendable, Hashable, Codable {
    /// One line of the plan.
    public struct Row: Sendable, Hashable, Codable {
        public var id: Int
        public var parent: Int
        public var detail: String
        /// Rows that SQLite expects it to go to each time, by what `ANALYZE` has written; `nil`: nothing, or it does not
        /// say.
        public var expectedRows: Int?
        /// The table that it goes to; `nil`: none, or an older recorder.
        public var table: String?
        /// The table's indexes of plain columns and all rows, each as its columns with commas between.
        ///
        /// `"ZLIST,ZNAME"`; a collation other than `BINARY` and a falling order stand behind a column:
        /// `"ZNAME COLLATE NOCASE DESC"`. `nil`: there is no table, or an older recorder.
        public var indexes: [String]?
        /// Those among them whose values are unique; `nil`: none.
        public var uniqueIndexes: [String]?

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

    public var rows: [Row]

    public init(rows: [Row]) {
        self.rows = rows
    }
}

/// A call site that the compiler knew.
public struct SiteEntry: Sendable, Hashable, Codable {
    /// `#fileID`: `"Module/File.swift"`.
    public var file: String
    public var line: Int
    public var function: String

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

    public init(frames: [String], isTruncated: Bool? = nil) {
        self.frames = frames
        self.isTruncated = isTruncated
    }

    /// The addresses as numbers; what is none is left out.
    public var addresses: [UInt64] {
        frames.compactMap { UInt64($0.dropFirst(2), radix: 16) }
    }
}

/// A program or library that was mapped into the process.
public struct ModuleEntry: Sendable, Hashable, Codable {
    public var path: String
    /// What is added to the file's addresses to get those of the process, as a hexadecimal number with `0x`.
    public var bias: String
    /// The first address of the module, as a hexadecimal number with `0x`.
    public var start: String
    /// The address behind the module's last, as a hexadecimal number with `0x`.
    public var end: String
    /// The build ID in hexadecimal digits; empty: it has none.
    public var buildID: String

    public init(path: String, bias: String, start: String, end: String, buildID: String) {
        self.path = path
        self.bias = bias
        self.start = start
        self.end = end
        self.buildID = buildID
    }
}

/// What an address means in the source.
public struct FrameEntry: Sendable, Hashable, Codable {
    /// One function at that address; more than one where calls were inlined.
    public struct Location: Sendable, Hashable, Codable {
        /// The symbol as the linker knows it.
        public var symbol: String
        /// The symbol in words: `"Groceries.showList(page: Int) -> ()"`.
        public var function: String
        /// The source file's path; empty: not known.
        public var file: String
        /// The line; 0: not known.
        public var line: Int

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
    /// Innermost first: an inlined function stands before the one that it was inlined into.
    public var locations: [Location]

    public init(address: String, module: String, locations: [Location]) {
        self.address = address
        self.module = module
        self.locations = locations
    }
}

/// A word that events refer to: a relationship's or a scope's name.
public struct NameEntry: Sendable, Hashable, Codable {
    public var name: String

    public init(name: String) {
        self.name = name
    }
}

/// A managed object context.
public struct ContextEntry: Sendable, Hashable, Codable {
    public var name: String
    /// `"mainQueue"` or `"privateQueue"`.
    public var concurrency: String

    public init(name: String, concurrency: String) {
        self.name = name
        self.concurrency = concurrency
    }
}

/// A thread of the recorded process.
public struct ThreadEntry: Sendable, Hashable, Codable {
    /// The kernel's number.
    public var thread: UInt32
    public var name: String
    public var isMain: Bool

    public init(thread: UInt32, name: String, isMain: Bool) {
        self.thread = thread
        self.name = name
        self.isMain = isMain
    }
}
