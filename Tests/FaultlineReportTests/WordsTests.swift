import FaultlineDocuments
import FaultlineFindings
import FaultlineTrace
import Testing

@testable import FaultlineReport

@Suite("Numbers and tables as text")
struct WordsTests {
    @Test(arguments: [
        (0, "0 ns"), (999, "999 ns"), (999.6, "1.00 µs"), (1000, "1.00 µs"), (9994, "9.99 µs"), (9996, "10.0 µs"),
        (12_345, "12.3 µs"), (123_456, "123 µs"), (999_499, "999 µs"), (999_500, "1.00 ms"), (4_210_000_000, "4.21 s"),
        (7_200_000_000_000, "7,200 s"), (-1500, "-1.50 µs"),
    ])
    func `Times have three digits and a unit`(_ nanoseconds: Double, _ text: String) {
        #expect(Phrase.duration(nanoseconds) == text)
    }

    @Test(arguments: [
        (0, "0 B"), (1023, "1,023 B"), (1024, "1.00 KiB"), (4_000_000, "3.81 MiB"), (5_368_709_120, "5.00 GiB"),
    ])
    func `Sizes have three digits and a unit`(_ bytes: Double, _ text: String) {
        #expect(Phrase.size(bytes) == text)
    }

    @Test(arguments: [
        (0, "0.0 %"), (0.0005, "under 0.1 %"), (0.012, "1.2 %"), (0.0999, "10.0 %"), (0.57, "57 %"), (1, "100 %"),
    ])
    func `Shares are shown as percentages`(_ share: Double, _ text: String) {
        #expect(Phrase.percent(share) == text)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] as [(UInt64, String)])
    func `Thousands are separated`(_ count: UInt64, _ text: String) {
        #expect(Phrase.count(count) == text)
    }

    @Test(arguments: [
        (ShapeEntry(entity: "Item", predicate: "price > ?", sort: ["name ascending"]), "Item where price > ? by name"),
        (ShapeEntry(entity: "Item", predicate: "price > ?", resultType: "count"), "Item (count) where price > ?"),
        (
            ShapeEntry(entity: "Item", resultType: "dictionaries", expressions: ["sum:(price)", "count:(name)"]),
            "Item (sum:(price), count:(name))"
        ),
    ])
    func `A fetch is described by its request`(_ shape: ShapeEntry, _ text: String) throws {
        #expect(GroupText.shape(shape) == text)
        guard case .object(let members) = shape.json else { return }
        let expressions = members.first { $0.key == "expressions" }?.value
        #expect(expressions?.line == shape.expressions.map { "[\"\($0.joined(separator: "\",\""))\"]" })
    }

    @Test func `A table aligns its columns and shortens the flexible one`() {
        var table = TextTable([
            .init(title: "what", alignment: .left, losing: .middle), .init(title: "count", alignment: .right),
        ])
        table.add(["a very long description of something", "7"])
        table.add(["short", "1,204"])
        #expect(
            table.lines(width: 100) == [
                "what                                  count",
                "a very long description of something      7",
                "short                                 1,204",
            ])
        #expect(table.lines(width: 20) == ["what           count", "a very…ething      7", "short          1,204"])
    }

    @Test func `Two columns share the width, and a shortened call site keeps its line number`() {
        var table = TextTable([
            .init(title: "what", alignment: .left, losing: .middle),
            .init(title: "call site", alignment: .left, losing: .beginning),
        ])
        table.add(["Track where title CONTAINS[cd] ?", "MusicLibrary+Search.swift:43"])
        #expect(table.lines(width: 34) == ["what              call site", "Track wh…S[cd] ?  …Search.swift:43"])
        #expect(table.lines(width: 5) == ["what      …ll site", "Trac…] ?  …wift:43"])
    }

    @Test func `Text wraps at spaces, but not after a number`() {
        #expect(
            Phrase.wrapped("They belong to 1 fetch of Item", width: 16) == ["They belong to", "1 fetch of Item"])
        #expect(Phrase.wrapped("unbreakable", width: 4) == ["unbreakable"])
        #expect(Phrase.wrapped("", width: 10).isEmpty)
        #expect(
            Phrase.wrapped("Predicted: 0 ns (0 ns–320 µs).", width: 28) == [
                "Predicted: 0 ns", "(0 ns–320 µs).",
            ])
    }

    @Test func `JSON escapes special characters, and writes numbers exactly`() {
        let value = JSONValue.object([
            ("b", .string("a\"\\\n\u{1}é")),
            ("a", .array([.unsigned(.max), .integer(-3), .number(0.5), .number(3), .null, .bool(true)])),
            ("e", .array([])), ("n", .number(.nan)),
        ])
        #expect(
            value.line == #"{"b":"a\"\\\n\u0001é","a":[18446744073709551615,-3,0.5,3,null,true],"e":[],"n":null}"#)
        #expect(JSONValue.sorted(["b": .null, "a": .bool(false)]).indented == "{\n  \"a\": false,\n  \"b\": null\n}")
    }
}
