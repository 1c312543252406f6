package import Foundation

/// A value of a property list, with the references between the objects of a keyed archive.
///
/// It is how the bytes of files and rows are read. Foundation reads hostile lists without a bound.
package indirect enum PropertyListValue: Sendable, Hashable {
    /// Limits far above those of real lists, which keep hostile ones from doing harm.
    package enum Limit {
        /// How many levels deep lists are nested.
        package static let depth = 256
        /// The number of objects in the archive of an expression; real ones have about 40.
        static let expression = 1_000_000
        /// The same for a model, whose entities have up to 6,000 each.
        static let model = 2_000_000
        /// The same for the metadata of a store.
        package static let metadata = 1_000_000

        /// The same for a program's own value: as many objects as there are bytes, and some more for those that are shared.
        package static func value(_ data: Data) -> Int { data.count + 100_000 }
    }

    case null
    case boolean(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    case real(Double)
    case date(Date)
    case data(Data)
    case string(String)
    /// The number of an object in a keyed archive.
    case reference(Int)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    package var array: [PropertyListValue]? { if case .array(let values) = self { values } else { nil } }
    package var dictionary: [String: PropertyListValue]? {
        if case .dictionary(let values) = self { values } else { nil }
    }

    init(_ number: UInt64) {
        self = Int64(exactly: number).map { .integer($0) } ?? .unsigned(number)
    }

    /// Whether data begin as a property list in its binary form does.
    package static func isBinary(_ data: Data) -> Bool { data.starts(with: "bplist".utf8) }

    /// Reads a property list in its binary or its XML form.
    ///
    /// - Parameter limit: The largest number of objects of the binary form, one of ``Limit``; an object that is referred to twice
    ///   counts twice. ``ModelElementParser/Limit`` applies to the XML form.
    package init(_ data: Data, limit: Int) throws(ArchiveFailure) {
        if Self.isBinary(data) {
            self = try BinaryPropertyList.read(data, limit: limit)
        } else {
            let root: ModelElement
            do throws(ModelElementParser.Failure) {
                root = try ModelElementParser.parse(data, wantsText: true)
            } catch {
                throw ArchiveFailure(error.code == .notAModel ? "is not a property list" : error.text)
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
            case "integer": Int64(trimmed).map { .integer($0) } ?? UInt64(trimmed).map { .unsigned($0) }
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
package struct ArchiveFailure: Error {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}
