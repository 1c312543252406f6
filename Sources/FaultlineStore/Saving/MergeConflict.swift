/// An object that somebody else has changed or deleted since it was read here.
///
/// Snapshots are values by the names of attributes and to-one relationships, of which they have the
/// ``ManagedObjectID``; what has no value is not in them, nor are to-many relationships.
public struct MergeConflict: Sendable {
    public let objectID: ManagedObjectID
    /// The object with its unsaved changes; `nil`: it was to be deleted.
    public let objectSnapshot: [String: any Sendable]?
    /// The object as it was read; `nil`: it was gone then already.
    public let cachedSnapshot: [String: any Sendable]?
    /// The object as the store has it; `nil`: it was deleted there.
    public let persistedSnapshot: [String: any Sendable]?
    /// The version that was read (`Z_OPT`).
    public let oldVersionNumber: Int
    /// The version in the store; 0: it was deleted there.
    public let newVersionNumber: Int
}

/// Objects whose values must be unique and are not.
public struct ConstraintConflict: Sendable {
    /// The properties that are unique together.
    public let constraint: [String]
    /// Their values, by name; of a to-one relationship the ``ManagedObjectID``.
    public let constraintValues: [String: any Sendable]
    /// The object of the store that has these values; `nil`: the objects of the context are in conflict with each other.
    public let databaseObjectID: ManagedObjectID?
    /// That object as the store has it; see ``MergeConflict``.
    public let databaseSnapshot: [String: any Sendable]?
    /// The objects that were to be saved with these values.
    public let conflictingObjectIDs: [ManagedObjectID]
    /// Those objects with their unsaved changes, in the same order.
    public let conflictingSnapshots: [[String: any Sendable]]
}
