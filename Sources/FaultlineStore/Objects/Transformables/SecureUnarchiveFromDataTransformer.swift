import Foundation

/// Reads and writes the archives that Core Data keeps the values of transformable attributes in.
///
/// Reading makes no objects of classes that an archive names: Foundation's become Swift's values (strings, numbers,
/// `Data`, `Date`, `URL`, `UUID`, arrays, dictionaries), others an ``ArchivedObject``. Property lists that are no
/// archives and JSON are read as well. What can be written are property lists: `String`, `Bool`, numbers, `Data`, `Date`,
/// and arrays and dictionaries of these; as archives that `NSKeyedUnarchiver` reads.
///
/// ``transformedValue(_:)`` reads, as Foundation's transformer of that name does, and ``reverseTransformedValue(_:)``
/// writes.
open class SecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
    static let shared = SecureUnarchiveFromDataTransformer()

    /// The archived value; `nil` for bytes that are none.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        guard data.starts(with: BinaryPropertyList.header) else {
            return try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        }
        do throws(BinaryPropertyList.Malformed) {
            let list = try BinaryPropertyList(data)
            guard var archive = try KeyedArchive(list) else { return try list.value() }
            return try archive.value()
        } catch {
            return nil
        }
    }

    /// The archive of a property list; `nil` for other values.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value, PropertyListSerialization.propertyList(value, isValidFor: .binary) else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }
}
