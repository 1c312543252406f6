import ArgumentParser
import FaultlineFindings
import FaultlineQuery
import FaultlineReport
import Foundation

/// Queries a trace with SQL.
struct QueryCommand: PrintingCommand {
    static let output = Output.rows
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Queries a trace's events as SQL tables.",
        discussion: """
            faultline query trace.json
                Lists the tables and describes their columns.
            faultline query trace.json 'SELECT callSite, count(*) FROM fault GROUP BY 1'
                Counts the faults of each call site.
            faultline query trace.json 'SELECT * FROM fetch' -o fetches.csv
                Writes rows to a file.
            faultline query trace.json -o trace.sqlite
                Keeps the tables, for sqlite3 and others.

            Each event kind has a table; the view "events" has the columns that all kinds share. Times are in \
            nanoseconds. Lists are JSON, for json_each.
            """)

    @Argument(help: "The trace.", completion: .file())
    var trace: String

    @Argument(help: "One statement in SQLite's SQL.")
    var sql: String?

    @Option(name: .long, help: ArgumentHelp(OutputFormat<QueryCommand>.help + " JSON is one object per line."))
    var format = OutputFormat<QueryCommand>.text

    @OptionGroup var file: PrintedFile

    /// Whether the file is to have the tables, and not the rows of the statement.
    private var keepsTables: Bool {
        guard let path = file.output else { return false }
        return sql == nil || !format.isChosen && Renderers.named(byExtensionOf: path) == nil
    }

    func run() throws {
        let inputs = CommandInputs([trace])
        let (name, isForced) = (file.output ?? "", file.force)
        let file = keepsTables ? try OutputFile(name, .tables, inputs: inputs, isForced: isForced) : nil
        let output = keepsTables ? nil : try outputFile(inputs)
        let rows = try output?.begin() ?? UnfinishedFile()
        var trace = try LoadedTrace(path: trace)
        for note in trace.notes { Terminal.tell(note) }
        guard sql != nil || file != nil else {
            try trace.expectNames()
            return try Terminal.output.write(TableText.text)
        }
        let database = try tables(of: &trace, in: file)
        guard let sql else { return }
        do {
            try print(sql, database, to: rows, width: output == nil ? Terminal.output.columns : nil)
            try rows.finish()
        } catch let error as QueryError {
            throw CommandFailure.usage(
                "Cannot run the query (\(error)); \"faultline query \(self.trace)\" lists the tables and their "
                    + "columns."
            )
        }
    }

    private func tables(of trace: inout LoadedTrace, in file: OutputFile?) throws -> TraceDatabase {
        let unfinished = try file?.begin()
        do {
            let database = try TraceDatabase(path: unfinished?.path)
            let summary = try Signals.ignoringFileSizeLimit {
                let summary = try trace.read { try database.add($0) }
                try database.finish()
                return summary
            }
            for remark in summary.remarks { Terminal.tell(remark) }
            try unfinished?.finish()
            return database
        } catch let error as QueryError {
            throw file?.failure("\(error)")
                ?? .tool("Cannot write the tables to a temporary file (\(error)); check that the disk has space.")
        }
    }

    private func print(_ sql: String, _ database: TraceDatabase, to file: UnfinishedFile, width: Int?) throws {
        guard let format = renderer.rows else { return }
        var lines: any RowLines = format.init(names: [])
        try database.query(sql) { names in
            lines = format.init(names: names)
        } row: { values in
            if let line = lines.add(values.map(\.row)) { try file.write(text: line) }
        }
        try file.write(text: lines.end(width: width))
    }
}

extension QueryValue {
    fileprivate var row: RowValue { RowValue(text: text, json: json, isNumber: isNumber, isNull: self == .null) }
}

/// The list of a trace's tables, with descriptions of their columns.
enum TableText {
    static var text: String {
        TraceTable.all.map(text).joined(separator: "\n") + """

            events: An event of any kind: its kind, and the columns that the tables of all kinds have.

            """
    }

    private static func text(_ table: TraceTable) -> String {
        let columns = table.columns.map { column in
            let start = "    \(padded(column.name, 24))\(padded(column.type.lowercased(), 9))"
            let lines = Phrase.wrapped(column.meaning, width: 100 - start.count)
            return start + lines.joined(separator: "\n" + padded("", start.count)) + "\n"
        }
        let purpose = Phrase.wrapped("\(table.name): \(table.purpose)", width: 100)
        return purpose.joined(separator: "\n") + "\n" + columns.joined()
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
