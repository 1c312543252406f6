internal import FaultlineModel

/// A table or a column that a migration left behind, for the program to remove later.
package struct DeferredDrop: Hashable {
    package let table: String
    /// `nil` for the table itself.
    package let column: String?

    /// The key in a store's metadata, as in Core Data's stores.
    package static let marker = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
    /// The beginning of the names of tables that were left behind.
    static let prefix = "Z_FAULTLINE_DROPPED_"

    /// A column of a table that continues.
    package init(column: String, of table: String) {
        (self.table, self.column) = (table, column)
    }

    /// A table that does not continue, under its new name.
    package init(table: String) {
        (self.table, column) = (Self.prefix + table, nil)
    }

    /// Parses a name in the form of ``text``.
    ///
    /// - Returns: `nil` for other texts, and for tables that no migration left behind.
    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1 where parts[0].hasPrefix(Self.prefix): (table, column) = (parts[0], nil)
        case 2 where parts[0].hasPrefix("Z") && parts[1].hasPrefix("Z"): (table, column) = (parts[0], parts[1])
        default: return nil
        }
    }

    /// Its name in the metadata: `ZNOTE.ZTEXT`, or a table's name.
    package var text: String { column.map { "\(table).\($0)" } ?? table }
}

extension DeferredDrop {
    /// The values of a store's metadata that list the columns and tables to remove later.
    static func metadata(_ drops: [DeferredDrop]) -> [String: (any Sendable)?] {
        [
            marker: drops.isEmpty ? nil : true,
            VersionKeys.deferred: drops.isEmpty ? nil : drops.map(\.text),
        ]
    }
}

extension [String: Any] {
    /// Lists the columns and tables to remove later in a store's metadata.
    package mutating func setDeferredDrops(_ drops: [DeferredDrop]) {
        for (key, value) in DeferredDrop.metadata(drops) { self[key] = value.map { $0 as Any } }
    }
}
