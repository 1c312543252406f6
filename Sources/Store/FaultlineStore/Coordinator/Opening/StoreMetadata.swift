import FaultlineModel
import Foundation

/// The metadata of a store: a property list, `Z_PLIST`.
package struct StoreMetadata: Sendable {
    /// All values, as Sendable types.
    package private(set) var values: [String: any Sendable]
    /// The number of changes so far.
    private var changes = 0
    /// The number of changes that were saved.
    private var savedChanges = 0

    package init(_ values: [String: any Sendable] = [:]) {
        self.values = values
    }

    /// Decodes the column `Z_PLIST` of a store at a path; values that a property list cannot represent are left out.
    ///
    /// - Throws: ``StoreError`` if it cannot be decoded. It must not be replaced then, because values would be lost.
    init(propertyList: Data, path: String) throws(StoreError) {
        self.init(try Self.list(propertyList, path: path).compactMapValues(\.plain))
    }

    private static func list(_ data: Data, path: String) throws(StoreError) -> [String: PropertyListValue] {
        guard !data.isEmpty else { return [:] }
        let reason: String
        do throws(ArchiveFailure) {
            let list = try PropertyListValue(data, limit: PropertyListValue.Limit.metadata)
            if let values = list.dictionary { return values }
            reason = "is not a dictionary"
        } catch {
            reason = error.text
        }
        throw StoreError(
            .invalidMetadata,
            "The metadata of '\(path)' cannot be read because its property list \(reason); restore the store from a copy."
        )
    }

    private static let ownKeys = [
        VersionKeys.layout, VersionKeys.isForeign, VersionKeys.pendingStage, VersionKeys.earlier,
        VersionKeys.indexes, VersionKeys.deferred, VersionKeys.history,
    ]

    /// Whether a key is one of the store's own, rather than the program's.
    package static func isOwn(_ key: String) -> Bool {
        key.hasPrefix("NS") || key.hasPrefix("_NS") || ownKeys.contains(key)
    }

    /// The checksums of the versions that the store had before, as far as Faultline migrated it.
    package var earlierVersions: [String] { values[VersionKeys.earlier] as? [String] ?? [] }

    /// The tables and columns that migrations left behind.
    package var deferredDrops: [DeferredDrop] {
        (values[VersionKeys.deferred] as? [String] ?? []).compactMap { DeferredDrop(text: $0) }
    }

    /// Lists the columns and tables to remove later, after the store's file lists them.
    package mutating func setDeferredDrops(_ drops: [DeferredDrop]) {
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

    /// Changes the column `Z_PLIST` of a store at a path.
    ///
    /// Values that the closure does not change stay as they are, whoever wrote them.
    ///
    /// - Throws: ``StoreError`` if the column cannot be decoded, or one of its values cannot be encoded again.
    static func changing(
        _ old: Data, path: String, _ change: (inout [String: Any]) -> Void
    ) throws(StoreError) -> Data {
        var values: [String: Any] = [:]
        for (key, value) in try list(old, path: path) {
            guard let plain = value.plain else { throw cannotWrite(path) }
            values[key] = plain
        }
        change(&values)
        guard let list = PropertyListValue(values) else { throw cannotWrite(path) }
        return list.binary
    }

    private static func cannotWrite(_ path: String) -> StoreError {
        StoreError(
            .invalidMetadata,
            "The metadata of '\(path)' cannot be changed because they contain values that a property list cannot hold; restore the store from a copy."
        )
    }

    /// Converts a value to the type in which it is read back; `nil` if a property list cannot represent it.
    static func value(_ value: Any) -> (any Sendable)? { PropertyListValue(value)?.plain }
}

extension PropertyListValue {
    /// Converts a value of Swift or Foundation; `nil` if a property list cannot represent it or a part of it.
    init?(_ value: Any) {
        // A number casts to Bool and vice versa, so compare the dynamic type.
        if type(of: value) == Bool.self, let isTrue = value as? Bool {
            self = .boolean(isTrue)
            return
        }
        switch value {
        case let value as UInt64 where value > UInt64(Int64.max): self = .unsigned(value)
        case let value as NSNumber:
            if ["d", "f"].contains(String(cString: value.objCType)) {
                self = .real(value.doubleValue)
            } else {
                guard let number = Int64(exactly: value) else { return nil }
                self = .integer(number)
            }
        case let value as String: self = .string(value)
        case let value as Date: self = .date(value)
        case let value as Data: self = .data(value)
        case let values as [Any]:
            let members = values.compactMap { Self($0) }
            guard members.count == values.count else { return nil }
            self = .array(members)
        case let values as [String: Any]:
            let members = values.compactMapValues { Self($0) }
            guard members.count == values.count else { return nil }
            self = .dictionary(members)
        default: return nil
        }
    }

    /// The value as ``StoreMetadata/value(_:)`` returns it; `nil` if a property list cannot represent it or a part of it.
    fileprivate var plain: (any Sendable)? {
        switch self {
        case .null, .reference: return nil
        case .boolean(let value): return value
        case .integer(let value): return Int(value)
        case .unsigned(let value): return value
        case .real(let value): return value
        case .date(let value): return value
        case .data(let value): return value
        case .string(let value): return value
        case .array(let members):
            let values = members.compactMap(\.plain)
            return values.count == members.count ? values : nil
        case .dictionary(let members):
            let values = members.compactMapValues(\.plain)
            return values.count == members.count ? values : nil
        }
    }
}
