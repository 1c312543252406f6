import CTraceSchema
import FaultlineTrace

/// A timeline's line of one kind with a distinct value in every field, made from the schema's tables.
struct SchemaLine {
    /// The values of the fields that every event has, and of the kind's own, by name.
    ///
    /// The value of a list is its length.
    private(set) var common: [String: UInt64] = [:]
    private(set) var own: [String: UInt64] = [:]
    private(set) var json = ""
    /// The same line with the keys of every object in reverse order.
    private(set) var reversed = ""

    init(_ kind: EventKind) {
        let schema = fl_schema(UInt32(kind.rawValue)).pointee
        let lists = (0..<Int(schema.listCount)).map { schema.lists[$0] }
        var arguments: [String] = [#""main":true"#]
        var value: UInt64 = 1000
        for field in Self.commonFields {
            let name = String(cString: field.name)
            value += 1
            common[name] = value
            if name == "start" || name == "duration" { continue }
            arguments.append("\"\(name)\":\(value)")
        }
        for field in Self.fields(of: kind) {
            let name = String(cString: field.name)
            value += 1
            // Values exceed 32 bits, and hashes exceed the precision of a double, so that either conversion would show.
            let isHash = field.meaning == UInt8(fl_field_meaning.FL_HASH.rawValue)
            let wide = field.width == 8 ? UInt64(1) << (isHash ? 62 : 52) | value : value
            let text: String
            if let list = lists.first(where: { $0.countOffset == field.offset }) {
                own[name] = 3
                let entry = "[" + (0..<Int(list.words)).map { String($0 + 1) }.joined(separator: ",") + "]"
                text = "[\(entry),\(entry),\(entry)]"
            } else if isHash {
                own[name] = wide
                text =
                    "\"" + String(repeating: "0", count: 16 - String(wide, radix: 16).count) + String(wide, radix: 16)
                    + "\""
            } else if field.meaning == UInt8(fl_field_meaning.FL_ENUMERATION.rawValue) {
                own[name] = 1
                text = "\"\(String(cString: fl_enumeration_word(field.detail, 1)))\""
            } else if field.meaning == UInt8(fl_field_meaning.FL_FLAG.rawValue) {
                own[name] = 1
                text = "true"
            } else {
                own[name] = wide
                text = String(wide)
            }
            arguments.append("\"\(name)\":\(text)")
        }
        let outside = [
            #""name":"a \"name\"""#, "\"cat\":\"\(kind.name)\"", #""ph":"X""#,
            "\"ts\":\(Self.microseconds(common["start"]!))",
            "\"dur\":\(Self.microseconds(common["duration"]!))", #""pid":1"#, #""tid":77"#,
        ]
        json = "{" + (outside + ["\"args\":{" + arguments.joined(separator: ",") + "}"]).joined(separator: ",") + "}"
        reversed =
            "{"
            + (["\"args\":{" + arguments.reversed().joined(separator: ",") + "}"] + outside.reversed())
            .joined(separator: ",") + "}"
    }

    static var commonFields: [fl_field] {
        var count: UInt32 = 0
        let fields = fl_common_fields(&count)!
        return (0..<Int(count)).map { fields[$0] }
    }

    static func fields(of kind: EventKind) -> [fl_field] {
        let schema = fl_schema(UInt32(kind.rawValue)).pointee
        return (0..<Int(schema.fieldCount)).map { schema.fields[$0] }
    }

    static func microseconds(_ nanoseconds: UInt64) -> String {
        let rest = String(nanoseconds % 1000)
        return "\(nanoseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
