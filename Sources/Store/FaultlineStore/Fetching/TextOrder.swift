import CSQLite
import Foundation

/// The order in which a ``FetchSortDescriptor`` sorts strings.
///
/// An index on an attribute has ``lexical`` order. With any other order, the store sorts all rows that the request
/// selects, even if it has a limit, and calls a function for each comparison.
public enum TextOrder: Sendable, Hashable, CaseIterable {
    /// By code points, the order of an index: "Zebra" comes before "apple".
    case lexical
    /// By code points, ignoring case.
    case caseInsensitive
    /// By the rules of the user's language (`Locale.current`).
    case localized
    /// By the rules for lists of names in the user's language, with numbers by value: "Item 9" comes before "Item 10".
    case localizedStandard

    /// The name of the collation in SQL; `nil` for SQLite's own.
    ///
    /// The localized orders have Core Data's names.
    var collation: String? {
        switch self {
        case .lexical: nil
        case .caseInsensitive: "FaultlineNoCase"
        case .localized: "NSCollateLocaleSensitive"
        case .localizedStandard: "NSCollateFinderlike"
        }
    }

    /// Returns a negative number, 0 or a positive number.
    func compare(_ left: String, _ right: String) -> Int {
        switch self {
        case .lexical: SQLValue.text(left).order(.text(right))
        case .caseInsensitive:
            SQLValue.text(TextOptions.caseInsensitive.fold(left)).order(
                .text(TextOptions.caseInsensitive.fold(right)))
        case .localized: left.compare(right, options: [], range: nil, locale: .current).rawValue
        case .localizedStandard: left.localizedStandardCompare(right).rawValue
        }
    }

    /// Registers the collations on a connection.
    ///
    /// - Returns: SQLite's result code.
    static func register(on connection: OpaquePointer) -> Int32 {
        for order in allCases {
            guard let name = order.collation else { continue }
            let compare:
                @convention(c) (
                    UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
                ) -> Int32 =
                    switch order {
                    case .lexical, .caseInsensitive: { Int32(TextOrder.caseInsensitive.compare($1, $2, $3, $4)) }
                    case .localized: { Int32(TextOrder.localized.compare($1, $2, $3, $4)) }
                    case .localizedStandard: { Int32(TextOrder.localizedStandard.compare($1, $2, $3, $4)) }
                    }
            let result = sqlite3_create_collation_v2(connection, name, SQLITE_UTF8, nil, compare, nil)
            guard result == SQLITE_OK else { return result }
        }
        return SQLITE_OK
    }

    private func compare(
        _ leftCount: Int32, _ left: UnsafeRawPointer?, _ rightCount: Int32, _ right: UnsafeRawPointer?
    ) -> Int {
        func text(_ bytes: UnsafeRawPointer?, _ count: Int32) -> String {
            String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
        }
        return compare(text(left, leftCount), text(right, rightCount))
    }
}
