internal import FaultlineFindings
internal import FaultlineTrace

/// A JSON value.
///
/// Equal values have equal text.
package enum JSONValue: Sendable {
    case object([(key: String, value: JSONValue)])
    case array([JSONValue])
    case string(String)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case bool(Bool)
    case null

    /// An object with its keys in alphabetical order.
    package static func sorted(_ members: [String: JSONValue]) -> JSONValue {
        sorted(members.map { (key: $0.key, value: $0.value) })
    }

    package static func sorted(_ members: [(key: String, value: JSONValue)]) -> JSONValue {
        .object(members.ordered { $0.key < $1.key })
    }

    package static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// The JSON on one line.
    package var line: String {
        var text = ""
        write(to: &text, indent: nil)
        return text
    }

    /// The JSON with one member per line, indented by two spaces.
    package var indented: String {
        var text = ""
        write(to: &text, indent: 0)
        return text
    }

    /// The JSON, indented by two spaces, with each value that fits on one line there, and with words side by side.
    package var compact: String { compact(indent: 0, room: Self.width) }

    private static let width = 128

    private func compact(indent: Int, room: Int) -> String {
        let line = spaced
        guard line.count > room else { return line }
        let margin = String(repeating: "  ", count: indent + 1)
        let (open, close, parts): (String, String, [String])
        switch self {
        case .object(let members):
            (open, close) = ("{", "}")
            parts = members.map { key, value in
                let head = "\(JSONValue.string(key).line): "
                return head
                    + value.compact(indent: indent + 1, room: Self.width - margin.count - head.count - 1)
            }
        case .array(let values):
            (open, close) = ("[", "]")
            parts =
                values.allSatisfy(\.isWord)
                ? Phrase.wrapped(values.map(\.line).joined(separator: ", "), width: Self.width - margin.count).map {
                    $0.hasSuffix(",") ? String($0.dropLast()) : $0
                }
                : values.map { $0.compact(indent: indent + 1, room: Self.width - margin.count - 1) }
        default: return line
        }
        return "\(open)\n\(parts.map { margin + $0 }.joined(separator: ",\n"))\n\(margin.dropLast(2))\(close)"
    }

    /// Whether it is text that is not a sentence.
    private var isWord: Bool { if case .string(let text) = self { !text.contains(" ") } else { false } }

    /// The JSON on one line, with spaces after commas and colons.
    private var spaced: String {
        switch self {
        case .object(let members):
            "{" + members.map { JSONValue.string($0.key).line + ": " + $0.value.spaced }.joined(separator: ", ") + "}"
        case .array(let values): "[" + values.map(\.spaced).joined(separator: ", ") + "]"
        default: line
        }
    }

    private func write(to text: inout String, indent: Int?) {
        switch self {
        case .object(let members):
            Self.write(members, "{", "}", to: &text, indent) { member, text, indent in
                Self.write(member.key, to: &text)
                text += indent == nil ? ":" : ": "
                member.value.write(to: &text, indent: indent)
            }
        case .array(let values):
            Self.write(values, "[", "]", to: &text, indent) { $0.write(to: &$1, indent: $2) }
        case .string(let string): Self.write(string, to: &text)
        case .integer(let value): text += String(value)
        case .unsigned(let value): text += String(value)
        case .number(let value): text += Self.text(of: value)
        case .bool(let value): text += value ? "true" : "false"
        case .null: text += "null"
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ open: String, _ close: String, to text: inout String, _ indent: Int?,
        _ element: (Element, inout String, Int?) -> Void
    ) {
        guard !elements.isEmpty else {
            text += open + close
            return
        }
        text += open
        for (index, each) in elements.enumerated() {
            if index > 0 { text += "," }
            if let indent { text += "\n" + String(repeating: "  ", count: indent + 1) }
            element(each, &text, indent.map { $0 + 1 })
        }
        if let indent { text += "\n" + String(repeating: "  ", count: indent) }
        text += close
    }

    /// The text of a number: without a decimal point if it is whole, or else the shortest text that restores it.
    ///
    /// A number that is not finite becomes null.
    private static func text(of value: Double) -> String {
        guard value.isFinite else { return "null" }
        if value == value.rounded(), abs(value) < 9e15 { return String(Int64(value)) }
        return "\(value)"
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // This includes characters that JSON allows but a terminal would interpret.
            case _ where Phrase.isUnprintable(scalar): text += Phrase.escape(of: scalar)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
