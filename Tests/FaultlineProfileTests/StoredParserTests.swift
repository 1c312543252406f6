import Foundation
import Testing

@testable import FaultlineProfile

@Suite("The JSON of a profile file")
struct StoredParserTests {
    private func value(_ text: String) throws -> StoredValue { try StoredParser.value(of: Data(text.utf8)) }

    private static let values: [(String, StoredValue)] = [
        ("0", .number(0)), (" -12 ", .number(-12)), ("9223372036854775807", .number(.max)),
        ("-9223372036854775808", .number(.min)), ("9223372036854775808", .unusable), ("1.5", .unusable),
        ("1e3", .unusable), ("-2E-7", .unusable), ("null", .none), ("true", .unusable), ("false", .unusable),
        ("\"\"", .text("")), ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", .text("\"\\/\u{8}\u{C}\n\r\t")),
        ("\"a\\u00e9\\ud83d\\ude00ü\"", .text("aé😀ü")), ("[]", .list([])),
        ("[1, [ ], \"x\"]", .list([.number(1), .list([]), .text("x")])),
        ("{}", .record([:])), ("{ \"a\" : {\"b\":[null]} }", .record(["a": .record(["b": .list([.none])])])),
    ]

    @Test(arguments: values)
    func `is read`(text: String, expected: StoredValue) throws {
        #expect(try value(text) == expected)
    }

    @Test(arguments: [
        "", " ", "x", "nul", "01", "-", "1.", "1e", ".5", "+1", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud83d\"",
        "\"\\ude00\"", "\"a\nb\"", "[", "[1", "[1,]", "[,]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{1:2}", "1 2",
        "[]]",
    ])
    func `is refused`(text: String) {
        #expect(throws: StoredParser.NotJSON.self) { try value(text) }
    }

    @Test func `is refused if it is no UTF-8 or nests too deeply, and is what JSONSerialization reads`() throws {
        #expect(throws: StoredParser.NotJSON.self) { try StoredParser.value(of: Data([0x22, 0xFF, 0x22])) }
        #expect(throws: StoredParser.NotJSON.self) { try StoredParser.value(of: Data([0x22, 0x5C, 0x6E, 0xC0, 0x22])) }
        let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(throws: StoredParser.NotJSON.self) { try value(nested(StoredParser.deepest + 1)) }
        #expect(throws: StoredParser.NotJSON.self) { try value(String(repeating: "[", count: 1_000_000)) }
        _ = try value(nested(StoredParser.deepest))
        // Every beginning of a file is refused, whichever byte it ends at.
        let whole = Array("{\"a\":[1,-2,\"x\\u00e9\\n\",null,{\"b\":\"é\"}]}".utf8)
        for length in 0..<whole.count {
            #expect(throws: StoredParser.NotJSON.self) { try StoredParser.value(of: Data(whole[..<length])) }
        }
        let object = try JSONSerialization.jsonObject(with: try value(String(decoding: whole, as: UTF8.self)).json())
        let expected = try JSONSerialization.jsonObject(with: Data(whole))
        #expect(object as? NSDictionary == expected as? NSDictionary)
    }
}
