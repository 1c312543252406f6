import FaultlineModel
import Foundation

/// The metadata of a store: a property list, `Z_PLIST`.
struct StoreMetadata: Sendable {
    /// All values, as Sendable types.
    private(set) var values: [String: any Sendable]
    /// The number of changes so far.
    private var changes = 0
    /// The number of changes that were saved.
    private var savedChanges = 0

    init(_ values: [String: any Sendable] = [:]) {
        self.values = values
    }

    /// Decodes a property list; empty if it cannot be decoded.
    init(propertyList: Data) {
        let read = try? PropertyListSerialization.propertyList(from: propertyList, format: nil)
        self.init((read as? [String: Any] ?? [:]).compactMapValues { Self.value($0) })
    }

    private static let ownKeys = [
        VersionKeys.layout, VersionKeys.isForeign, VersionKeys.pendingStage, VersionKeys.earlier,
        VersionKeys.indexes, VersionKeys.deferred,
    ]

    /// Whether a key is one of the store's own, rather than the program's.
    static func isOwn(_ key: String) -> Bool {
        key.hasPrefix("NS") || key.hasPrefix("_NS") || ownKeys.contains(key)
    }

    /// The checksums of the versions that the store had before, as far as Faultline migrated it.
    var earlierVersions: [String] { values[VersionKeys.earlier] as? [String] ?? [] }

    /// The tables and columns that migrations left behind.
    var deferredDrops: [DeferredDrop] {
        (values[VersionKeys.deferred] as? [String] ?? []).compactMap { DeferredDrop(text: $0) }
    }

    /// Lists the columns and tables to remove later, after the store's file lists them.
    mutating func setDeferredDrops(_ drops: [DeferredDrop]) {
        for (key, value) in DeferredDrop.metadata(drops) { values[key] = value }
    }

    /// Sets the program's values, for the next save.
    mutating func set(_ new: [String: any Sendable]) {
        values = values.filter { Self.isOwn($0.key) }.merging(new.filter { !Self.isOwn($0.key) }) { own, _ in own }
        changes += 1
    }

    /// The program's values and change number, if they have not been saved; otherwise `nil`.
    var unsaved: (values: [String: any Sendable], change: Int)? {
        changes == savedChanges ? nil : (values.filter { !Self.isOwn($0.key) }, changes)
    }

    mutating func wasSaved(_ change: Int) {
        savedChanges = max(savedChanges, change)
    }

    /// Replaces the program's values in a property list.
    ///
    /// Keeps all other values, whoever wrote them.
    static func propertyList(_ old: Data, with new: [String: any Sendable]) -> Data? {
        let read = try? PropertyListSerialization.propertyList(from: old, format: nil)
        var list = (read as? [String: Any] ?? [:]).filter { isOwn($0.key) }
        for (key, value) in new { list[key] = value }
        return try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }

    /// Converts a value to the type in which it is read back; `nil` if a property list cannot represent it.
    static func value(_ value: Any) -> (any Sendable)? {
        // A number casts to Bool and vice versa, so compare the dynamic type.
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
