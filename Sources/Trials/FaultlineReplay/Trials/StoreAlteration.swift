import FaultlineFindings
import FaultlineModel

/// Statements that apply a finding's advice to a copy.
enum StoreAlteration {
    /// Rebuilds a file without gaps.
    static let packing = ["VACUUM"]

    /// Returns the statements that create the index as the store would for the model.
    ///
    /// - Throws: ``Untriable`` if the model cannot have the index, or has it already.
    static func index(_ index: IndexProposal, _ model: ManagedObjectModel) throws -> [String] {
        var entities = model.entities
        guard let position = entities.firstIndex(where: { $0.name == index.entity }) else {
            throw Untriable("The store has no entity \(index.entity).")
        }
        let elements = index.elements.map { FetchIndexDescription.Element($0.property, isAscending: $0.isAscending) }
        entities[position].indexes.append(FetchIndexDescription("faultlineTrial", elements: elements))
        let before = Set(model.schema.statements)
        let statements: [String]
        do {
            statements = try ManagedObjectModel(variant: entities).schema.statements.filter { !before.contains($0) }
        } catch {
            throw Untriable("The model cannot have the index: \(error.message)")
        }
        guard !statements.isEmpty else { throw Untriable("The model already has the index.") }
        return statements
    }

    /// Returns the statements that remove values from the rows of an entity and of those that inherit from it.
    ///
    /// - Throws: ``Untriable`` if the store has no such columns.
    static func emptying(_ properties: [String], of name: String, _ model: ManagedObjectModel) throws -> [String] {
        guard let entity = model.schema.entity(named: name) else {
            throw Untriable("The store has no entity \(name).")
        }
        return try properties.map { name in
            guard let property = entity.property(name), case .attribute = property.kind, !property.column.isEmpty else {
                throw Untriable(
                    "\(entity.name) in the store has no attribute \(name), so the trace is of another store.")
            }
            return "UPDATE \(entity.table) SET \(property.column) = NULL"
        }
    }
}
