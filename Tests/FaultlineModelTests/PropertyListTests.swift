import FaultlineModel
import Foundation
import SharedData
import Testing

@Suite("A property list")
struct PropertyListTests {
    /// Returns what a list contains, or the reason why it cannot be read.
    private func result(_ data: Data, limit: Int = 1000) -> String {
        do throws(ArchiveFailure) {
            return "\(try PropertyListValue(data, limit: limit))"
        } catch {
            return error.text
        }
    }

    private func xml(_ value: String, before: String = "") -> String {
        result(Data("\(before)<plist version=\"1.0\">\(value)</plist>".utf8))
    }

    @Test("has the same values in both forms that Foundation writes")
    func values() throws {
        let list: [String: Any] = [
            "text": "Grüße <&>", "empty": "", "number": -7, "long": 300, "most": UInt64.max, "real": 0.25, "yes": true,
            "date": Date(timeIntervalSinceReferenceDate: 12), "data": Data([0, 255]),
            "list": Array(repeating: "the same", count: 20), "dictionary": ["a": [String: Int]()],
        ]
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
            #expect(
                try PropertyListValue(data, limit: 1000)
                    == .dictionary([
                        "text": .string("Grüße <&>"), "empty": .string(""), "number": .integer(-7),
                        "long": .integer(300), "most": .unsigned(.max), "real": .real(0.25), "yes": .boolean(true),
                        "date": .date(Date(timeIntervalSinceReferenceDate: 12)), "data": .data(Data([0, 255])),
                        "list": .array(Array(repeating: .string("the same"), count: 20)),
                        "dictionary": .dictionary(["a": .dictionary([:])]),
                    ]))
        }
        #expect(xml("<string>a<![CDATA[<b>]]>c</string>") == "string(\"a<b>c\")")
    }

    @Test("is written as Foundation reads it")
    func writing() throws {
        let list: [String: Any] = [
            "Größe": "Grüße 👋", "empty": "", "numbers": [0, 255, 256, 65_535, 65_536, 1 << 32, Int.max, -1, Int.min],
            "most": UInt64.max, "reals": [0.25, -0.0, Double.infinity], "yes": true, "no": false,
            "date": Date(timeIntervalSinceReferenceDate: -12.5), "data": Data(repeating: 7, count: 70_000),
            "list": (0..<300).map { "text \($0)" }, "same": Array(repeating: "text 1", count: 20),
            "dictionary": ["a": [String: Int](), "b": [Int]()],
        ]
        let theirs = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        let value = try PropertyListValue(theirs, limit: 1000)
        #expect(try PropertyListValue(value.binary, limit: 1000) == value)
        let read = try PropertyListSerialization.propertyList(from: value.binary, format: nil)
        #expect(try #require(read as? NSDictionary) == list as NSDictionary)
        // Only the archives that others wrote have these.
        let archive = PropertyListValue.array([.reference(1), .reference(300), .null])
        #expect(try PropertyListValue(archive.binary, limit: 10) == archive)
    }

    @Test("counts an object that is shared each time, and no more than the limit")
    func sharing() {
        #expect(result(PropertyListBytes.doubling()) == "expands to more than 1000 objects")
        #expect(result(PropertyListBytes.doubling(levels: 2), limit: 7).hasPrefix("array("))
        #expect(result(PropertyListBytes.doubling(levels: 2), limit: 6) == "expands to more than 6 objects")
        #expect(
            result(PropertyListBytes.doubling(), limit: PropertyListValue.Limit.metadata)
                == "expands to more than 1000000 objects")
        // A long text that many objects refer to is read once.
        let text: [UInt8] = [0x5f, 0x11, 0x10, 0] + Array(repeating: UInt8(ascii: "a"), count: 4096)
        let many: [UInt8] = [0xaf, 0x11, 1, 0] + (0..<256).flatMap { _ in [0, 1] as [UInt8] }
        #expect(result(PropertyListBytes.list([many, text])).count > 256 * 4096)
    }

    @Test("is refused if it contains itself or is nested too deep")
    func depth() {
        #expect(result(PropertyListBytes.list([PropertyListBytes.array(0)])) == "has a list that contains itself")
        #expect(
            result(PropertyListBytes.list([PropertyListBytes.array(1, 1), PropertyListBytes.array(0, 0)]))
                == "has a list that contains itself")
        #expect(result(PropertyListBytes.nested(levels: 256)) == "nests lists more than 256 levels deep")
        #expect(result(PropertyListBytes.nested(levels: 255)).hasPrefix("array("))
        // Lists that end in the one before, which has been read by then.
        #expect(result(PropertyListBytes.chained(count: 2, levels: 126)).hasPrefix("array("))
        #expect(
            result(PropertyListBytes.chained(count: 40, levels: 10), limit: 100_000)
                == "nests lists more than 256 levels deep")
    }

    @Test("is refused if its counts or offsets lead out of it, or its objects overlap")
    func damage() {
        let damaged = "ends too early or is damaged"
        #expect(result(PropertyListBytes.list([[0x09]], count: 2)) == damaged)
        #expect(result(PropertyListBytes.list([[0x09]], count: .max)) == damaged)
        #expect(result(PropertyListBytes.list([[0x09]], count: 0)) == damaged)
        #expect(result(PropertyListBytes.list([[0x09]], table: 7)) == damaged)
        #expect(result(PropertyListBytes.list([[0x09]], table: .max)) == damaged)
        #expect(result(PropertyListBytes.list([[0x09]], table: -1)) == damaged)
        #expect(result(PropertyListBytes.list([PropertyListBytes.array(1)])) == damaged)
        for object: [UInt8] in [
            [0xaf, 0x13, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0xdf, 0x12, 0xff, 0xff, 0xff, 0xff],
            [0x4f, 0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x5f, 0x12, 0x7f, 0xff, 0xff, 0xff], [0xaf],
        ] {
            #expect(result(PropertyListBytes.list([object])) == damaged)
        }
        // Each text begins one byte after the last one, and ends at the end of the objects.
        let texts: [UInt8] =
            (0..<50).map { 0x50 | UInt8(min(14, 50 - $0)) } + Array(repeating: UInt8(ascii: "a"), count: 14)
        var objects: [[UInt8]] = [[0xaf, 0x10, 50] + (1...50).flatMap { [0, UInt8($0)] as [UInt8] }]
        objects += texts.prefix(49).map { [$0] } + [Array(texts.dropFirst(49))]
        #expect(result(PropertyListBytes.list(objects)) == damaged)
        let whole = PropertyListBytes.nested(levels: 3)
        for length in 0..<whole.count { #expect(!result(whole.prefix(length)).hasPrefix("array(")) }
    }

    @Test("is refused in its XML form if it has declarations, or is nested too deep")
    func hostileXML() {
        let entities = (1...9).map { "<!ENTITY e\($0) \"\(String(repeating: "&e\($0 - 1);", count: 10))\">" }
        #expect(
            xml("<string>&e9;</string>", before: "<!DOCTYPE plist [<!ENTITY e0 \"ha\">\(entities.joined())]>")
                == "has a document type with its own declarations in line 1, which is not allowed")
        let deep = String(repeating: "<array>", count: 100_000)
        #expect(xml(deep) == "nests elements more than 64 levels deep in line 1")
        #expect(xml(String(repeating: "<true/>", count: 200_000)) == "has more than 200000 elements")
        #expect(xml("<true/><true/>") == "is not a property list")
        #expect(result(Data("{ a = (1, 2); }".utf8)) == "is not a property list")
        #expect(result(Data()) == "is not a property list")
    }
}
