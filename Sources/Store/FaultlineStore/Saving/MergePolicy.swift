/// The way a save resolves conflicts with changes of other writers.
///
/// Conflicts concern objects that were changed since they were read, and values that violate a uniqueness constraint. A
/// context's policy is ``ManagedObjectContext/mergePolicy``. Every policy except ``error`` resolves the conflicts and
/// saves again, in the same call.
public enum MergePolicy: String, Sendable, Hashable, CaseIterable {
    /// The save fails with ``StoreError/Code/conflict`` or ``StoreError/Code/constraint``.
    ///
    /// ``StoreError/conflicts`` or ``StoreError/constraintConflicts`` describe the conflicts. Neither the context nor
    /// the store changes.
    case error
    /// Merges by property; if both sides set a property, the store's value wins.
    ///
    /// An object that another writer deleted is deleted here too. An object that was to be deleted here, but was
    /// changed in the store, stays. A new object whose unique values are already in the store is merged into the stored
    /// object, which gets the values it lacks and the members of the new object's relationships.
    case mergeByPropertyStoreTrump
    /// Merges by property; if both sides set a property, the context's value wins.
    ///
    /// An object that was changed here and deleted by another writer is inserted again, with the same ID. A new object
    /// whose unique values are already in the store is merged into the stored object: all its values, including
    /// defaults, replace the stored ones, and the members of its relationships are added.
    case mergeByPropertyObjectTrump
    /// The context's version of an object replaces the store's, including properties that were not set here.
    ///
    /// An object that another writer deleted is inserted again. A new object whose unique values are already in the
    /// store replaces all values and relationships of the stored object.
    case overwrite
    /// The store's version of an object wins, and the changes here are undone, including deletions.
    ///
    /// A new object whose unique values are already in the store is discarded.
    case rollback

    /// Whether values set in the context win.
    var prefersObject: Bool { self == .mergeByPropertyObjectTrump || self == .overwrite }
}

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
