/// A condition that a store's rows must meet for a migration in SQL.
///
/// The two models alone do not decide it, so a migration checks the rows before it changes anything.
package struct MigrationCondition: Sendable, Hashable {
    package enum Requirement: Sendable, Hashable {
        /// The entity has no objects, because a new required property would have no value.
        case noObjects
        /// The entity has no objects, because it becomes abstract.
        case noObjectsOfAbstractEntity
        /// No object lacks a value of a property that becomes required.
        case noMissingValues(of: String)
        /// All values of an attribute fit its new type.
        case valuesFit(AttributeType, of: String)
        /// No two objects have the same values of these properties of the newer entity.
        case unique([String])
    }

    /// The older entity, whose objects are counted without those of its subentities.
    package let sourceEntity: String
    /// The newer entity, and its property, if there is one.
    package let entity: String
    package let property: String?
    package let requirement: Requirement

    package init(_ requirement: Requirement, _ sourceEntity: String, _ entity: String, _ property: String? = nil) {
        self.requirement = requirement
        self.sourceEntity = sourceEntity
        self.entity = entity
        self.property = property
    }
}
