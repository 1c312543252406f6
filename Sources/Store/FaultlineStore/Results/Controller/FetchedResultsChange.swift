public import Foundation

/// One change of a ``FetchedResultsController``'s content.
///
/// An object that has not been saved has a temporary ID, which the save replaces; that is not a change of the content. A
/// program that keeps IDs calls ``ManagedObjectContext/obtainPermanentIDs(for:fileID:line:function:)`` for new objects.
///
/// An index path has two indexes: the section, and the object within it. Index paths of old positions refer to the
/// content before all changes of a ``FetchedResultsChanges``, index paths of new positions to the content after them.
public enum FetchedResultsChange: Sendable, Hashable {
    /// An object was added, at a position in the new content.
    case insert(ManagedObjectID, at: IndexPath)
    /// An object was removed, from a position in the old content.
    case delete(ManagedObjectID, at: IndexPath)
    /// An object changed, and its position with it.
    case move(ManagedObjectID, from: IndexPath, to: IndexPath)
    /// An object changed but kept its position relative to the others; its index path differs if others were inserted
    /// or deleted.
    case update(ManagedObjectID, at: IndexPath, to: IndexPath)
}

/// The changes of a ``FetchedResultsController``'s content at one time.
public struct FetchedResultsChanges: Sendable, Hashable {
    /// Indexes of the deleted sections, in the old content.
    public internal(set) var deletedSections: IndexSet = []
    /// Indexes of the inserted sections, in the new content.
    public internal(set) var insertedSections: IndexSet = []
    /// The changes of objects: deletions, then insertions, moves and updates, each in order of position.
    public internal(set) var objects: [FetchedResultsChange] = []

    /// Whether there are no changes.
    public var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && objects.isEmpty }
}

/// The kind of change of an object or a section in a ``FetchedResultsController``'s content.
public enum FetchedResultsChangeType: String, Sendable, Hashable {
    /// It was added.
    case insert
    /// It was removed.
    case delete
    /// Its position has changed, and perhaps its values.
    case move
    /// Its values have changed.
    case update
}

extension IndexPath {
    /// Creates the index path of an object in a section.
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// The first index: the section.
    public var section: Int { self[0] }

    /// The second index: the object within its section.
    public var item: Int { self[1] }
}
