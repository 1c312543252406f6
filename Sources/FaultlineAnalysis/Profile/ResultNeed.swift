internal import FaultlineTrace

/// What one result was there for, told from all that was done with it up to its end.
enum ResultNeed: Sendable, Hashable {
    /// For nothing that the trace knows of.
    case nothing
    /// To know how many rows there are.
    case count
    /// To know whether there is a row.
    case existence
    /// For one number of every row: for a sum, a mean, a least or a greatest value.
    case fold(property: String)
    /// For its rows' identities: they were asked for, or objects were taken out, and nothing of these was read or changed.
    case identities
    /// To delete all of its objects, of which nothing was read.
    case deletion
    /// To set properties of all of its objects to the same values, without reading any.
    case update(properties: [String])
    /// For its first rows and no others.
    case first
    /// For all of its rows.
    case all
    /// For some rows, here and there.
    case some
}

/// Results that were there for the same, summed up.
struct ResultTally: Sendable, Hashable {
    var executions: UInt64 = 0
    var rows: UInt64 = 0
    var touchedRows: UInt64 = 0
    /// The most rows that were touched of one result; of one that was needed whole, all of them.
    var mostTouched: UInt64 = 0
    var bytes: UInt64 = 0
    /// What fetching them and loading their rows took, in nanoseconds.
    var time: UInt64 = 0
    /// Results that were asked for their count.
    var counted: UInt64 = 0
    /// What saving their objects took, where they were fetched to be deleted or set to the same values.
    var written = WrittenRows()

    var untouchedRows: UInt64 { rows - min(rows, touchedRows) }
}

extension ResultNeed {
    /// Properties of an entity of which a use summary tells whether they were read.
    static let watchedProperties = 63

    /// What a result was there for; `nil`: it had no rows, so that nothing can be told.
    ///
    /// - Parameters:
    ///   - entity: The fetch's; `nil`: not known, so that nothing is said of properties.
    ///   - tellsModifications: Whether the recording knows which rows were changed.
    init?(_ use: TraceEvent.Use, entity: EntityEntry?, tellsModifications: Bool) {
        guard use.rows > 0 else { return nil }
        guard use.touchedRows > 0 else {
            self = Self.asked(use)
            return
        }
        let isFromFirst = use.runs.count == 1 && use.runs[0].first == 0 && use.runsLost == 0
        let isWhole = use.touchedRows >= use.rows || use.identitiesAsked > 0
        if let entity, tellsModifications, entity.properties.count <= Self.watchedProperties, isWhole {
            let read = use.properties.filter { $0.rowsRead > 0 }
            if read.isEmpty, use.modifiedRows == 0 {
                self = .identities
                return
            }
            if isFromFirst, let property = Self.foldedProperty(use, read, of: entity) {
                self = .fold(property: property)
                return
            }
        }
        if isWhole {
            self = .all
        } else {
            self = isFromFirst && use.runs[0].rows == UInt64(use.touchedRows) ? .first : .some
        }
    }

    /// What a result was asked for of which no row was taken out.
    private static func asked(_ use: TraceEvent.Use) -> ResultNeed {
        if use.identitiesAsked > 0 { return .identities }
        if use.countAsked > use.emptinessAsked { return .count }
        return use.emptinessAsked > 0 ? .existence : .nothing
    }

    /// The one number that was read of every row, if all rows were gone through in one go and nothing was changed.
    private static func foldedProperty(
        _ use: TraceEvent.Use, _ read: [TraceEvent.Use.Property], of entity: EntityEntry
    ) -> String? {
        let widest = use.windows.map(\.rows).max() ?? 0
        guard read.count == 1, read[0].rowsRead >= UInt64(use.rows), use.modifiedRows == 0,
            // A list that is scrolled shows a part at a time.
            widest >= UInt64(use.rows) - UInt64(use.rows) / 2, read[0].index < UInt64(entity.properties.count)
        else { return nil }
        let property = entity.properties[Int(read[0].index)]
        return numbers.contains(property.type) ? property.name : nil
    }

    private static let numbers: Set<String> = ["Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Decimal"]
}
