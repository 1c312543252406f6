package import FaultlineDocuments
package import FaultlineTrace

/// Prints the events of one process line by line, so a trace of any length takes no memory.
package protocol EventLines: SendableMetatype {
    /// Returns the line above all others, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of the events that will be printed.
    ///   - stack: Whether the events' stacks will be printed.
    static func title(of kinds: Set<EventKind>, stack: Bool) -> String?

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - dictionary: The dictionary of the events' process.
    ///   - kinds: The kinds of the events that will be printed, as for the title.
    ///   - stack: Whether the events' stacks will be printed, as for the title.
    init(dictionary: TraceDictionary, kinds: Set<EventKind>, stack: Bool)

    /// Returns an event's lines, without line feeds.
    ///
    /// - Parameter stack: Whether to add the event's stack.
    mutating func lines(_ event: TraceEvent, stack: Bool) -> [String]
}

/// Prints lines for processes and losses between the events.
///
/// A format whose lines all have the same columns does not.
package protocol ProcessLines: EventLines {
    /// Returns the line for a process that began to record.
    static func line(_ began: ProcessBegan) -> String
    /// Returns the line for a process whose recording ended.
    static func line(_ ended: ProcessEnded) -> String
    /// Returns the line for a loss of events.
    static func line(_ lost: EventLoss) -> String
}

extension EventText: ProcessLines {
    package static func title(of kinds: Set<EventKind>, stack: Bool) -> String? { heading }

    package init(dictionary: TraceDictionary, kinds: Set<EventKind>, stack: Bool) { self.init(dictionary: dictionary) }
}

extension EventJSON: ProcessLines {
    package static func title(of kinds: Set<EventKind>, stack: Bool) -> String? { nil }

    package init(dictionary: TraceDictionary, kinds: Set<EventKind>, stack: Bool) { self.init(dictionary: dictionary) }

    package mutating func lines(_ event: TraceEvent, stack: Bool) -> [String] { [line(event, stack: stack)] }
}

/// A value in a query's result.
package struct RowValue: Sendable {
    package var text: String
    package var json: JSONValue
    package var isNumber: Bool
    package var isNull: Bool

    package init(text: String, json: JSONValue, isNumber: Bool, isNull: Bool) {
        (self.text, self.json, self.isNumber, self.isNull) = (text, json, isNumber, isNull)
    }
}

/// Prints the rows of a query, one by one or all at the end.
package protocol RowLines: SendableMetatype {
    /// Creates a printer for rows with these columns.
    init(names: [String])

    /// Adds a row.
    ///
    /// - Returns: The line to print now, with a line feed, or `nil` if the row is printed at the end.
    mutating func add(_ row: [RowValue]) -> String?

    /// Returns the text to print after the last row.
    ///
    /// - Parameter width: The maximum number of characters in a line, or `nil` for no limit.
    func end(width: Int?) -> String
}

/// A table that is printed when all rows are known, and with them the widths of its columns.
struct RowsText: RowLines {
    private let names: [String]
    private var rows: [[RowValue]] = []

    init(names: [String]) { self.names = names }

    mutating func add(_ row: [RowValue]) -> String? {
        rows.append(row)
        return nil
    }

    func end(width: Int?) -> String {
        var table = TextTable(
            names.indices.map { column in
                let isNumber = rows.allSatisfy { $0[column].isNumber || $0[column].isNull }
                return TextTable.Column(
                    title: names[column], alignment: isNumber ? .right : .left, losing: isNumber ? nil : .middle)
            })
        for row in rows { table.add(row.map(\.text)) }
        return table.lines(width: width ?? .max / 2).joined(separator: "\n") + "\n"
    }
}

/// One object per line.
struct RowsJSON: RowLines {
    private let keys: [String]

    init(names: [String]) { keys = Self.keys(names) }

    func add(_ row: [RowValue]) -> String? {
        JSONValue.object(zip(keys, row).map { (key: $0, value: $1.json) }).line + "\n"
    }

    func end(width: Int?) -> String { "" }

    /// Numbers columns with the same name, as of two joined tables: `id`, `id_2`.
    ///
    /// The keys of a JSON object should be unique (RFC 8259, section 4). Most parsers keep only one of several values.
    static func keys(_ names: [String]) -> [String] {
        var used = Set(names)
        var seen: Set<String> = []
        return names.map { name in
            if seen.insert(name).inserted { return name }
            var number = 2
            while !used.insert("\(name)_\(number)").inserted { number += 1 }
            return "\(name)_\(number)"
        }
    }
}
