import FaultlineModel
import Foundation

/// Reads and writes the archives in which Core Data keeps the values of transformable attributes.
///
/// Reading creates no objects of the classes that an archive names. Foundation objects become Swift values (strings,
/// numbers, `Data`, `Date`, `URL`, `UUID`, arrays, dictionaries); other objects become an ``ArchivedObject``. Plain
/// property lists and JSON can be read too. Writing accepts property lists (`String`, `Bool`, numbers, `Data`, `Date`,
/// and arrays and dictionaries of these) and produces archives that `NSKeyedUnarchiver` reads.
///
/// As with Foundation's transformer of that name, ``transformedValue(_:)`` reads and ``reverseTransformedValue(_:)``
/// writes.
open class SecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
    static let shared = SecureUnarchiveFromDataTransformer()

    /// Decodes an archive, a property list or JSON; `nil` for other bytes.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        guard PropertyListValue.isBinary(data) else {
            return try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        }
        return try? ArchivedValues.value(data)
    }

    /// Archives a property list; `nil` for other values.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value, PropertyListSerialization.propertyList(value, isValidFor: .binary) else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }
}
