public import Foundation

/// What changed at one place of a ``FetchedResultsController``'s content.
///
/// An object that was not saved yet has a temporary identity, which another one takes the place of when it is saved; that
/// is no change of the content. Whoever keeps identities calls
/// ``ManagedObjectContext/obtainPermanentIDs(for:fileID:line:function:)`` for new objects.
///
/// Index paths have two numbers: the section's and the object's within it. Those of what was there are of the content
/// before all changes of a ``FetchedResultsChanges``, those of what is there are of the content after them.
public enum FetchedResultsChange: Sendable, Hashable {
    case insert(ManagedObjectID, at: IndexPath)
    case delete(ManagedObjectID, at: IndexPath)
    /// An object changed, and with it its place.
    case move(ManagedObjectID, from: IndexPath, to: IndexPath)
    /// An object changed and stays among the others where it is; its numbers differ where others came or went.
    case update(ManagedObjectID, at: IndexPath, to: IndexPath)
}

/// What changed in a ``FetchedResultsController``'s content at one time.
public struct FetchedResultsChanges: Sendable, Hashable {
    /// Numbers of sections that went, in the content before.
    public internal(set) var deletedSections: IndexSet = []
    /// Numbers of sections that came, in the content after.
    public internal(set) var insertedSections: IndexSet = []
    /// What happened to objects: deletions, then insertions, moves and updates, each in the order of their places.
    public internal(set) var objects: [FetchedResultsChange] = []

    /// Whether nothing changed.
    public var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && objects.isEmpty }
}

/// How an object or a section of a ``FetchedResultsController``'s content changed.
public enum FetchedResultsChangeType: String, Sendable, Hashable {
    case insert, delete, move, update
}

extension IndexPath {
    /// The place of an object in a section.
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// The first number: that of the section.
    public var section: Int { self[0] }

    /// The second number: that of the object in its section.
    public var item: Int { self[1] }
}
