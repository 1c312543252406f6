internal import FaultlineTrace

/// A table for querying a trace.
///
/// Each kind of event has a table of its own, with a row for each event. A column has the name of the event's field,
/// unless it is an SQL keyword: see ``columnName(ofKey:)``.
package struct TraceTable: Sendable {
    package struct Column: Sendable, Hashable {
        package let name: String
        /// `"INTEGER"` or `"TEXT"`.
        package let type: String
        /// The meaning of the value, in a sentence or two.
        package let meaning: String
    }

    package let name: String
    /// The meaning of a row.
    package let purpose: String
    package let columns: [Column]

    /// - Parameter columns: One column per line: its name, with a leading `#` for a number, and its meaning.
    private init(_ name: String, _ purpose: String, _ columns: String) {
        self.name = name
        self.purpose = purpose
        self.columns = columns.split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            let isNumber = parts[0].hasPrefix("#")
            return Column(
                name: isNumber ? String(parts[0].dropFirst()) : parts[0], type: isNumber ? "INTEGER" : "TEXT",
                meaning: parts[1])
        }
    }

    /// Creates the table for events of one kind.
    private init(_ kind: EventKind) {
        let schema = EventSchema.of(kind)
        name = kind.name
        purpose = schema.summary
        columns =
            Self.common + schema.fields.flatMap { Self.columns(of: $0, schema) } + schema.lists.map(Self.column)
            + Self.positions
    }

    /// The column of a field, and the column with the text its number stands for.
    private static func columns(of field: EventSchema.Field, _ schema: EventSchema) -> [Column] {
        let (type, meaning) =
            switch field.meaning {
            case .hash: ("TEXT", field.summary)
            case .enumeration(let enumeration):
                ("TEXT", "\(field.summary) One of: \(EventSchema.words(of: enumeration).joined(separator: ", ")).")
            default: ("INTEGER", field.summary)
            }
        let column = Column(name: columnName(ofKey: schema.key(of: field)), type: type, meaning: meaning)
        guard let key = schema.wordsKey(of: field) else { return [column] }
        return [column, Column(name: key, type: "TEXT", meaning: "The words to which `\(column.name)` refers.")]
    }

    private static func column(of list: EventSchema.List) -> Column {
        let words = list.words.count == 1 ? "" : " of objects: " + list.words.map(\.name).joined(separator: ", ")
        return Column(name: list.name, type: "TEXT", meaning: "\(list.summary) A JSON array\(words).")
    }

    /// Returns the column for a key of an event.
    ///
    /// A few keys are SQL keywords. Their columns have other names, so queries need not quote them.
    package static func columnName(ofKey key: String) -> String {
        switch key {
        case "commit": "commitTime"
        case "limit": "rowLimit"
        case "offset": "rowOffset"
        case "values": "parameterValues"
        default: key
        }
    }

    /// The table with a name, or `nil` if there is none.
    static func named(_ name: String) -> TraceTable? { all.first { $0.name == name } }

    /// The columns that every event has.
    static let common: [Column] =
        [Column(name: "process", type: "INTEGER", meaning: "The number of the process that recorded the event.")]
        + EventSchema.common.map { Column(name: $0.name, type: "INTEGER", meaning: $0.summary) } + [
            Column(name: "contextName", type: "TEXT", meaning: "The context's name."),
            Column(name: "thread", type: "INTEGER", meaning: "The kernel's number of the thread that did the work."),
            Column(name: "isMainThread", type: "INTEGER", meaning: "1 on the process's first thread."),
            Column(name: "threadName", type: "TEXT", meaning: "The thread's name."),
        ]

    /// The columns for the event's place in the program.
    static let positions = [
        Column(
            name: "callSite", type: "TEXT", meaning: "The line of the program that asked for it: List.swift:42."),
        Column(name: "callFunction", type: "TEXT", meaning: "The function of that line."),
        Column(
            name: "stackSite", type: "TEXT", meaning: "The innermost line of the program in its call stack."),
        Column(name: "stackFunction", type: "TEXT", meaning: "The function of that line."),
    ]

    /// All tables: the processes, a table for each kind of event, and the frames of stacks.
    package static let all: [TraceTable] =
        [
            TraceTable(
                "processes", "A process of the trace.",
                """
                #process Its number.
                program The path of its program.
                #start When its recording began, in nanoseconds.
                #end When its recording ended. NULL if it did not.
                #events Events that it recorded.
                #lost Events that it had no room for.
                #isClosed 1 if it ended its recording itself.
                """)
        ] + EventKind.allCases.map(TraceTable.init) + [
            TraceTable(
                "frames", "A frame of a call stack. A function that was inlined has a frame of its own.",
                """
                #process The process's number.
                #stack The stack's number.
                #depth 0 for the innermost frame outside the recorder.
                module The program or library.
                function The function.
                file Its file.
                #line Its line.
                """)
        ]
}
