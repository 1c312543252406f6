import FaultlineDocuments
import FaultlineRules
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineReport

@Suite("Comma-separated values")
struct CSVTests {
    private static func value(_ text: String) -> RowValue {
        RowValue(text: text, json: .string(text), isNumber: false, isNull: false)
    }

    @Test(arguments: [
        (["a", "b"], "a,b"), (["a,b", "c"], #""a,b",c"#), ([#"say "no""#, ""], #""say ""no""","#),
        (["a\nb", "c\r\nd"], "\"a\nb\",\"c\r\nd\""), ([""], #""""#), (["", ""], ","), ([" a ", "'"], " a ,'"),
        (["\"\r\n\""], "\"\"\"\r\n\"\"\""),
    ])
    func `A value is quoted if it would end its field`(values: [String], record: String) {
        #expect(CSV.record(values) == record)
    }

    @Test(arguments: [
        ("=1+1", "\"'=1+1\""), ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
        ("+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\""),
        ("-2+3", "\"'-2+3\""), ("@SUM(A1)", "\"'@SUM(A1)\""), ("\t=1", "\"'\t=1\""), ("\r=1", "\"'\r=1\""),
        ("＝1", "\"'＝1\""),
        ("-", "\"'-\""), ("+", "\"'+\""), ("- 1", "\"'- 1\""), ("=\u{301}x", "\"'=\u{301}x\""), ("-1e5)", "\"'-1e5)\""),
    ])
    func `A text that a spreadsheet would run begins with a quotation mark`(value: String, field: String) {
        #expect(CSV.record([value, "x"]) == field + ",x")
        #expect(RowsCSV(names: [value]).end(width: nil) == field + "\n")
    }

    @Test(arguments: ["-1.5", "+3", "-0", "-1e-07", "-inf", "1=1", "a-b", "'=", " =1", "[\"=1\"]", "x'00'"])
    func `Numbers stay numbers, and other texts as they are`(value: String) {
        let field = value.contains("\"") ? "\"[\"\"=1\"\"]\"" : value
        #expect(CSV.record([value, "x"]) == field + ",x")
    }

    @Test func `Rows have a header with distinct names, even if there is no row`() {
        var rows = RowsCSV(names: ["a", "b,c", "a"])
        #expect(rows.end(width: nil) == "a,\"b,c\",a_2\n")
        #expect(rows.add(["1", "x,y", ""].map(Self.value)) == "a,\"b,c\",a_2\n1,\"x,y\",\n")
        #expect(rows.add(["2", "", ""].map(Self.value)) == "2,,\n")
        #expect(rows.end(width: nil) == "")
        // A statement without a result has no columns.
        #expect(RowsCSV(names: []).end(width: nil) == "")
    }

    private func dictionary() -> TraceDictionary {
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in GroceriesStory.trace { dictionary.insert(entry, id: id) }
        return dictionary
    }

    @Test func `Events have the columns of the selected kinds`() throws {
        let title = try #require(EventCSV.title(of: [.fault], stack: false))
        #expect(title.hasPrefix("process,kind,id,parent,scope,start,duration,"))
        #expect(title.hasSuffix(",callSite,callFunction,stackSite,stackFunction"))
        #expect(title.contains(",relationshipName,") && !title.contains(",rowLimit,") && !title.contains(",limit,"))
        #expect(EventCSV.title(of: [.fault], stack: true) == title + ",frames")
        for kinds in [Set(EventKind.allCases), [.fetch, .sql]] {
            let columns = try #require(EventCSV.title(of: kinds, stack: true)).split(separator: ",")
            #expect(Set(columns).count == columns.count)
        }
    }

    /// Every member of an event's JSON has a column, and an event has as many fields as the header.
    @Test func `A record has every value of its event`() throws {
        let kinds = Set(EventKind.allCases)
        let columns = try #require(EventCSV.title(of: kinds, stack: true)).split(separator: ",").map(String.init)
        var (csv, json) = (
            EventCSV(dictionary: dictionary(), kinds: kinds, stack: true), EventJSON(dictionary: dictionary())
        )
        for kind in EventKind.allCases {
            var event = TraceEvent.filled(kind).event
            event.site = 1
            for (key, _) in json.members(event, stack: true) { #expect(columns.contains(key), "\(kind) \(key)") }
            let record = csv.lines(event, stack: true).joined(separator: "\n")
            #expect(Self.fields(record).count == columns.count, "\(record)")
        }
    }

    @Test func `A line feed within a value stays within its quotes`() {
        var dictionary = TraceDictionary()
        dictionary.insert(.statement(StatementEntry(sql: "SELECT \"a\",\nb")), id: 1)
        var statement = TraceEvent.Statement()
        statement.statement = 1
        let kinds: Set<EventKind> = [.sql]
        var csv = EventCSV(dictionary: dictionary, kinds: kinds, stack: false)
        let lines = csv.lines(TraceEvent(duration: 7, thread: 3, .sql(statement)), stack: false)
        #expect(lines.count == 2)
        #expect(lines[0].hasSuffix(",\"SELECT \"\"a\"\",") && lines[1].hasPrefix("b\","))
    }

    @Test func `Comma-separated values are for events and rows`() {
        #expect(CSVRenderer().canPrint(.events) && CSVRenderer().canPrint(.rows))
        #expect(!CSVRenderer().canPrint(.document(Analysis.self)))
    }

    /// Splits a record at the commas outside quotes.
    private static func fields(_ record: String) -> [String] {
        var fields = [""]
        var isQuoted = false
        for character in record.unicodeScalars {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                fields.append("")
            } else {
                fields[fields.count - 1].unicodeScalars.append(character)
            }
        }
        return fields
    }
}
