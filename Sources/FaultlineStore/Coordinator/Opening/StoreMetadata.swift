import Foundation

/// What a store keeps beside its objects: a property list, `Z_PLIST`.
struct StoreMetadata: Sendable {
    /// All of it, in types that may go from thread to thread.
    private(set) var values: [String: any Sendable]
    /// Counts the changes that were made.
    private var changes = 0
    /// How many of them the store has.
    private var savedChanges = 0

    init(_ values: [String: any Sendable] = [:]) {
        self.values = values
    }

    /// Reads a property list; nothing is left of one that cannot be read.
    init(propertyList: Data) {
        let read = try? PropertyListSerialization.propertyList(from: propertyList, format: nil)
        self.init((read as? [String: Any] ?? [:]).compactMapValues { Self.value($0) })
    }

    /// Whether a key is of the store's own, and not of the program's.
    static func isOwn(_ key: String) -> Bool {
        key.hasPrefix("NS") || key.hasPrefix("_NS") || key == StoreOpening.hashKey
    }

    /// Sets the program's values, to be written by the next save.
    mutating func set(_ new: [String: any Sendable]) {
        values = values.filter { Self.isOwn($0.key) }.merging(new.filter { !Self.isOwn($0.key) }) { own, _ in own }
        changes += 1
    }

    /// The state of the program's values that the store does not have yet; `nil`: it has them.
    var unsaved: (values: [String: any Sendable], change: Int)? {
        changes == savedChanges ? nil : (values.filter { !Self.isOwn($0.key) }, changes)
    }

    mutating func wasSaved(_ change: Int) {
        savedChanges = max(savedChanges, change)
    }

    /// The property list with the program's values in the place of those that are there.
    ///
    /// Everything else stays as it is, whoever has written it.
    static func propertyList(_ old: Data, with new: [String: any Sendable]) -> Data? {
        let read = try? PropertyListSerialization.propertyList(from: old, format: nil)
        var list = (read as? [String: Any] ?? [:]).filter { isOwn($0.key) }
        for (key, value) in new { list[key] = value }
        return try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }

    /// A value in the type that it is read in; `nil`: a property list cannot keep it.
    static func value(_ value: Any) -> (any Sendable)? {
        // A number passes for a truth value and the other way round, so that the type itself is what counts.
        if type(of: value) == Bool.self { return value as? Bool }
        switch value {
        case let value as NSNumber:
            let isReal = ["d", "f"].contains(String(cString: value.objCType))
            if isReal { return value.doubleValue }
            return Int(exactly: value)
        case let value as String: return value
        case let value as Date: return value
        case let value as Data: return value
        case let values as [Any]:
            let converted = values.compactMap { Self.value($0) }
            return converted.count == values.count ? converted : nil
        case let values as [String: Any]:
            let converted = values.compactMapValues { Self.value($0) }
            return converted.count == values.count ? converted : nil
        default: return nil
        }
    }
}
