/// An object that another writer has changed or deleted since it was read.
///
/// Snapshots contain the values of attributes and to-one relationships by name; a relationship's value is the
/// ``ManagedObjectID``. Missing values and to-many relationships are left out.
public struct MergeConflict: Sendable {
    /// The object that two writers have changed.
    public let objectID: ManagedObjectID
    /// The object with its unsaved changes; `nil` if it was to be deleted.
    public let objectSnapshot: [String: any Sendable]?
    /// The object as it was read; `nil` if it was already gone.
    public let cachedSnapshot: [String: any Sendable]?
    /// The object as it is in the store; `nil` if it was deleted there.
    public let persistedSnapshot: [String: any Sendable]?
    /// The version that was read (`Z_OPT`).
    public let oldVersionNumber: Int
    /// The version in the store; 0 if the object was deleted there.
    public let newVersionNumber: Int
}

/// Objects that violate a uniqueness constraint.
public struct ConstraintConflict: Sendable {
    /// The properties of the constraint.
    public let constraint: [String]
    /// Their values, by name; the value of a to-one relationship is the ``ManagedObjectID``.
    public let constraintValues: [String: any Sendable]
    /// The stored object that has these values; `nil` if only objects of the context conflict.
    public let databaseObjectID: ManagedObjectID?
    /// That object as it is in the store; see ``MergeConflict``.
    public let databaseSnapshot: [String: any Sendable]?
    /// The objects of the save that have these values.
    public let conflictingObjectIDs: [ManagedObjectID]
    /// Those objects with their unsaved changes, in the same order.
    public let conflictingSnapshots: [[String: any Sendable]]
}
