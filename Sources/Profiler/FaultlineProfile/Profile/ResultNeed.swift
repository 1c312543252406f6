internal import FaultlineTrace

/// The purpose of one result, derived from everything the program did with it until its end.
package enum ResultNeed: Sendable, Hashable {
    /// No use that the trace has.
    case nothing
    /// To know the number of rows.
    case count
    /// To know whether there is a row.
    case existence
    /// To compute a sum, a mean, a minimum or a maximum from one number of every row.
    case fold(property: String)
    /// To know the rows' identities: the program asked for object IDs, or used objects without reading or changing
    /// them.
    case identities
    /// To delete all of its objects without reading them.
    case deletion
    /// To set properties of all of its objects to the same values, without reading any.
    case update(properties: [String])
    /// To use its first rows and no others.
    case first
    /// To use all of its rows.
    case all
    /// To use some rows anywhere in the result.
    case some
}

/// A tally of the results with the same purpose.
package struct ResultTally: Sendable, Hashable {
    package var executions: UInt64 = 0
    package var rows: UInt64 = 0
    package var touchedRows: UInt64 = 0
    /// The most rows that were touched in one result.
    ///
    /// A result that was needed whole counts with all its rows.
    package var mostTouched: UInt64 = 0
    package var bytes: UInt64 = 0
    /// The time of fetching the results and loading their rows, in nanoseconds.
    package var time: UInt64 = 0
    /// The number of results that were asked for their count.
    package var counted: UInt64 = 0
    /// The cost of saving their objects, if they were fetched to be deleted or set to the same values.
    package var written = WrittenRows()

    package init() {}

    package var untouchedRows: UInt64 { rows - min(rows, touchedRows) }
}

extension ResultNeed {
    /// The maximum number of an entity's properties whose reads a use summary has.
    static let watchedProperties = 63

    /// Derives the purpose of a result.
    ///
    /// Returns `nil` for a result without rows, whose purpose is unknown.
    ///
    /// - Parameters:
    ///   - entity: The fetch's entity. If `nil`, nothing is concluded from properties.
    ///   - showsModifications: Whether the recording has the number of changed rows.
    init?(_ use: TraceEvent.Use, entity: EntityEntry?, showsModifications: Bool) {
        guard use.rows > 0 else { return nil }
        guard use.touchedRows > 0 else {
            self = Self.asked(use)
            return
        }
        let isFromFirst = use.runs.count == 1 && use.runs[0].first == 0 && use.runsLost == 0
        let isWhole = use.touchedRows >= use.rows || use.identitiesAsked > 0
        if let entity, showsModifications, entity.properties.count <= Self.watchedProperties, isWhole {
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

    /// The purpose of a result whose rows were not used at all.
    private static func asked(_ use: TraceEvent.Use) -> ResultNeed {
        if use.identitiesAsked > 0 { return .identities }
        if use.countAsked > use.emptinessAsked { return .count }
        return use.emptinessAsked > 0 ? .existence : .nothing
    }

    /// The one numeric property that was read of every row, if the program used all rows at once and changed nothing.
    private static func foldedProperty(
        _ use: TraceEvent.Use, _ read: [TraceEvent.Use.Property], of entity: EntityEntry
    ) -> String? {
        let widest = use.windows.map(\.rows).max() ?? 0
        guard read.count == 1, read[0].rowsRead >= UInt64(use.rows), use.modifiedRows == 0,
            // A list that scrolls shows a part at a time.
            widest >= UInt64(use.rows) - UInt64(use.rows) / 2, read[0].index < UInt64(entity.properties.count)
        else { return nil }
        let property = entity.properties[Int(read[0].index)]
        return numbers.contains(property.type) ? property.name : nil
    }

    private static let numbers: Set<String> = ["Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Decimal"]
}

extension ResultNeed: ProfileKey {
    package var sortText: String {
        switch self {
        case .fold(let property): "fold\u{1}" + property
        case .update(let properties): (["update"] + properties).joined(separator: "\u{1}")
        default: "\(self)"
        }
    }

    /// A word.
    ///
    /// For a fold or an update, a list of the word and the properties.
    package func stored(_ words: inout ProfileWords) -> StoredValue {
        switch self {
        case .fold(let property): .list([.text("fold"), .text(property)])
        case .update(let properties): .list([.text("update")] + properties.map { .text($0) })
        default: .text("\(self)")
        }
    }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        if case .list(let parts) = value, parts.count >= 2 {
            let names = try parts.dropFirst().map { try $0.text() }
            switch try parts[0].text() {
            case "fold" where names.count == 1: self = .fold(property: names[0])
            case "update": self = .update(properties: names)
            default: throw StoredProblem(expected: "the use of a result")
            }
            return
        }
        let plain: [ResultNeed] = [.nothing, .count, .existence, .identities, .deletion, .first, .all, .some]
        let text = try value.text()
        guard let need = plain.first(where: { "\($0)" == text }) else {
            throw StoredProblem(expected: "one of " + plain.map { "\"\($0)\"" }.joined(separator: ", "))
        }
        self = need
    }
}
