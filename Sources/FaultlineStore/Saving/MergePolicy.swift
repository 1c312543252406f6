/// What a save does where it meets what somebody else has saved: with objects that were changed since they were read,
/// and with values that must be unique and are there already.
///
/// A context's policy is ``ManagedObjectContext/mergePolicy``. Every policy but ``error`` brings the objects in conflict
/// into line with the store and saves again, in the same call.
public enum MergePolicy: String, Sendable, Hashable, CaseIterable {
    /// The save fails with ``StoreError/Code/conflict`` or ``StoreError/Code/constraint``, and ``StoreError/conflicts`` or
    /// ``StoreError/constraintConflicts`` tell what was in conflict.
    ///
    /// Nothing is changed, in the context or in the store.
    case error
    /// Property by property: of what both sides have set, the store's is kept.
    ///
    /// An object that somebody else deleted is gone here too, and one that was to be deleted here and was changed
    /// meanwhile stays. A new object whose unique values are in the store becomes the object there: it gives it what that
    /// has no value for, and the members of its relationships.
    case mergeByPropertyStoreTrump
    /// Property by property: of what both sides have set, the context's is kept.
    ///
    /// An object that was changed here and that somebody else deleted is in the store again, under its identity. A new
    /// object whose unique values are in the store becomes the object there: all values that it has, defaults included,
    /// replace those of that object, and the members of its relationships join that object's.
    case mergeByPropertyObjectTrump
    /// The context's version of an object replaces the store's, also where nothing was set here.
    ///
    /// What somebody else deleted is in the store again. A new object whose unique values are in the store replaces all
    /// values and relationships of the object there.
    case overwrite
    /// The store's version of an object is kept: what was changed here is taken back, deletions included.
    ///
    /// A new object whose unique values are in the store is let go of.
    case rollback

    /// Whether what was set here is stronger.
    var prefersObject: Bool { self == .mergeByPropertyObjectTrump || self == .overwrite }
}
