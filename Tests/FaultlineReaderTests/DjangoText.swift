import FaultlineReader
import FaultlineTrace
import Testing

/// The text of a Django log, as the reader reads it.
struct DjangoText {
    let reading: Reading

    init(_ bytes: some Sequence<UInt8>) throws {
        let file = try TraceFile(bytes, name: "django.log")
        #expect(try TraceReader(path: file.path).format == "django")
        reading = try file.read()
    }

    init(_ text: String) throws { try self.init(text.utf8) }

    /// Returns a statement as Django logs it.
    static func record(_ sql: String, _ arguments: String = "()", seconds: String = "0.001") -> String {
        "(\(seconds)) \(sql); args=\(arguments); alias=default\n"
    }

    var began: [ProcessBegan] {
        reading.messages.compactMap { if case .began(let began) = $0 { began } else { nil } }
    }

    /// The statements, with their types and their durations in milliseconds.
    var statements: [String] {
        let dictionaries = Dictionary(
            uniqueKeysWithValues: began.map { ($0.process, reading.dictionary(of: $0.process)) })
        return reading.events.map { event in
            guard case .sql(let statement) = event.detail else { return "\(event.kind)" }
            let sql = dictionaries[event.process]?.statement(statement.statement)?.sql ?? "?"
            return "\(statement.type) \(event.duration / 1_000_000) \(sql)"
        }
    }

    /// Returns the only statement of a log.
    static func kept(_ sql: String, _ arguments: String = "()") throws -> String {
        let statements = try DjangoText(record(sql, arguments)).statements
        return statements.count == 1 ? String(statements[0].split(separator: " ", maxSplits: 2)[2]) : "\(statements)"
    }
}
