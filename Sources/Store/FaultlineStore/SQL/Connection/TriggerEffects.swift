import CSQLite

/// The rows that Core Data's triggers changed in addition to those that a save wrote.
///
/// Core Data maintains derived attributes with triggers, which report every changed row by calling functions that Core
/// Data registers: `NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT)`.
/// Without these functions, statements that fire such a trigger cannot even be prepared.
final class TriggerEffects {
    struct Row: Hashable {
        /// `Z_ENT`.
        var entity: Int64
        var key: Int64
    }

    private var rows: Set<Row> = []

    /// Registers the functions on a connection, which keeps this object alive as long as they exist.
    func register(on connection: OpaquePointer) -> Int32 {
        let names = [
            "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        ]
        for name in names {
            // Not SQLITE_DIRECTONLY, because triggers must call it (https://www.sqlite.org/c3ref/c_deterministic.html).
            let result = sqlite3_create_function_v2(
                connection, name, 5, SQLITE_UTF8 | SQLITE_INNOCUOUS, Unmanaged.passUnretained(self).toOpaque(),
                { context, _, values in
                    guard let data = sqlite3_user_data(context), let values else { return }
                    let effects = Unmanaged<TriggerEffects>.fromOpaque(data).takeUnretainedValue()
                    effects.rows.insert(
                        Row(entity: sqlite3_value_int64(values[1]), key: sqlite3_value_int64(values[2])))
                }, nil, nil, nil)
            guard result == SQLITE_OK else { return result }
        }
        return SQLITE_OK
    }

    /// Returns the rows changed since the last call, in a fixed order.
    func take() -> [Row] {
        defer { rows = [] }
        return rows.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }
    }
}
