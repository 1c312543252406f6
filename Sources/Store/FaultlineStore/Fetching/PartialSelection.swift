import CStore
import FaultlineModel

/// The properties that a fetch of partial faults reads, and their columns.
final class PartialSelection {
    /// `SELECT 0, t0.Z_PK, t0.ZNAME`: the columns of the properties, in request order.
    let selection: String
    /// The columns of a row, by the index of its entity; columns that are not read are NULL.
    let rowColumns: [EntityRuntime.RowColumns?]
    private let properties: Set<Int>

    /// - Parameters:
    ///   - names: Stored attributes and to-one relationships of the entity.
    ///   - prefetch: The prefetched relationships, whose foreign keys are read too.
    init(
        _ names: [ExpressionDescription], prefetch: [String], of entity: EntityRuntime, in model: ModelSchema
    ) throws(StoreError) {
        var properties: [PropertySchema] = []
        for description in names {
            guard case .path(let path) = description.expression.node, path.root == .object, path.names.count == 1,
                let property = entity.schema.property(path.names[0]), property.slot >= 0
            else {
                throw StoreError(
                    .invalidRequest,
                    "Fetching \(entity.schema.name): '\(description.name)' in propertiesToFetch is not a stored attribute or to-one relationship of the entity, and objects hold nothing else; remove it, or set resultType to dictionary."
                )
            }
            properties.append(property)
        }
        for path in prefetch {
            let first = path.prefix { $0 != "." }
            if let property = entity.schema.property(String(first)), property.kind == .toOne {
                properties.append(property)
            }
        }
        var columns: [String] = []
        for property in properties {
            for slot in [property.slot, property.entitySlot] where slot >= 0 {
                let column = entity.schema.columns[slot].name
                if !columns.contains(column) { columns.append(column) }
            }
        }
        self.properties = Set(properties.map(\.index))
        selection = ([entity.keySelection] + columns.map { "t0.\($0)" }).joined(separator: ", ")
        rowColumns = entity.rowColumns.enumerated().map { position, whole in
            whole.map { whole in
                EntityRuntime.RowColumns(
                    model.entities[position].columns.enumerated().map { slot, column in
                        guard let found = columns.firstIndex(of: column.name) else {
                            return cstore_column(column: 0, storage: Int32(CSTORE_NULL.rawValue))
                        }
                        return cstore_column(column: Int32(2 + found), storage: whole.start[slot].storage)
                    })
            }
        }
    }

    deinit {
        for columns in rowColumns { columns?.start.deallocate() }
    }

    func contains(_ property: Int) -> Bool { properties.contains(property) }
}

/// The row of a partial fault.
struct PartialRow {
    let row: RowPointer
    let block: RowBlock
    let selection: PartialSelection
}
