internal import Foundation

/// A value of a property list, with the references between the objects of a keyed archive.
indirect enum PropertyListValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case date(Date)
    case data(Data)
    case string(String)
    /// The number of an object in a keyed archive.
    case reference(Int)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    var array: [PropertyListValue]? { if case .array(let values) = self { values } else { nil } }
    var dictionary: [String: PropertyListValue]? { if case .dictionary(let values) = self { values } else { nil } }

    /// Reads a property list in its binary or its XML form.
    ///
    /// - Parameter limit: The largest number of objects and bytes of the binary form.
    init(_ data: Data, limit: Int) throws(ArchiveFailure) {
        if data.starts(with: "bplist".utf8) {
            self = try BinaryPropertyList.read(data, limit: limit)
        } else {
            let root: ModelElement
            do throws(ModelElementParser.Failure) {
                root = try ModelElementParser.parse(data, wantsText: true)
            } catch {
                throw ArchiveFailure("is not a property list")
            }
            guard root.name == "plist", root.children.count == 1 else { throw ArchiveFailure("is not a property list") }
            self = try Self(root.children[0])
        }
    }

    /// Converts an element of an XML property list.
    private init(_ element: ModelElement) throws(ArchiveFailure) {
        let text = element.attributes[""] ?? ""
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let value: PropertyListValue? =
            switch element.name {
            case "true": .boolean(true)
            case "false": .boolean(false)
            case "string": .string(text)
            case "integer": Int64(trimmed).map { .integer($0) }
            case "real": Double(trimmed).map { .real($0) }
            case "data": Data(base64Encoded: trimmed.filter { !$0.isWhitespace }).map { .data($0) }
            case "date": (try? Date(trimmed, strategy: .iso8601)).map { .date($0) }
            case "array": .array(try element.children.map { child throws(ArchiveFailure) in try Self(child) })
            case "dict": try Self.dictionary(element)
            default: nil
            }
        guard let value else { throw ArchiveFailure("has an invalid value of the type '\(element.name)'") }
        self = value
    }

    private static func dictionary(_ element: ModelElement) throws(ArchiveFailure) -> Self? {
        guard element.children.count.isMultiple(of: 2) else { return nil }
        var values: [String: PropertyListValue] = [:]
        for index in stride(from: 0, to: element.children.count, by: 2) {
            let key = element.children[index]
            guard key.name == "key" else { return nil }
            values[key.attributes[""] ?? ""] = try Self(element.children[index + 1])
        }
        // XML has no type for references.
        if values.count == 1, let number = values["CF$UID"]?.integer, let reference = Int(exactly: number) {
            return .reference(reference)
        }
        return .dictionary(values)
    }
}

/// The reason why an archive cannot be read, worded to follow its name: `"ends too early"`.
struct ArchiveFailure: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
