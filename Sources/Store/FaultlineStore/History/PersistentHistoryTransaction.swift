public import FaultlineModel
public import Foundation

/// A save or a batch request in the persistent history of a store.
public struct PersistentHistoryTransaction: Sendable, Hashable {
    /// The number of the transaction in its store; later ones have greater numbers.
    public let transactionNumber: Int64
    /// The identifier of the store: its ``PersistentStore/identifier``.
    public let storeID: String
    /// The time of the transaction.
    public let timestamp: Date
    /// The ``ManagedObjectContext/transactionAuthor`` of the context; `nil` if it had none.
    public let author: String?
    /// The ``ManagedObjectContext/name`` that the program gave the context; `nil` if it gave none.
    public let contextName: String?
    /// The bundle identifier of the program; empty if it has none, as programs on Linux.
    public let bundleID: String
    /// The name of the process.
    public let processID: String
    /// The changes, in the order in which they were recorded; `nil` if the request did not ask for them.
    public let changes: [PersistentHistoryChange]?
    /// The position after this transaction.
    public var token: PersistentHistoryToken { PersistentHistoryToken([storeID: transactionNumber]) }

    /// Returns the IDs of the changed objects, to merge them into a context.
    ///
    ///     context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
    ///
    /// The merge also discards the objects' rows in memory, because another process may have written them. Without
    /// ``changes`` there are no IDs.
    public func objectIDNotification() -> SavedObjectIDs {
        func ids(_ type: PersistentHistoryChange.ChangeType) -> Set<ManagedObjectID> {
            Set((changes ?? []).filter { $0.changeType == type }.map(\.changedObjectID))
        }
        var saved = SavedObjectIDs(inserted: ids(.insert), updated: ids(.update), deleted: ids(.delete))
        saved.isFromHistory = true
        return saved
    }

    /// A request for transactions, to be narrowed down by a predicate over `author`, `contextName`, `bundleID`,
    /// `processID`, `timestamp` and `transactionNumber`.
    public static var fetchRequest: PersistentHistoryFetchRequest { PersistentHistoryFetchRequest(.transaction) }
}

/// An object that a transaction inserted, changed or deleted.
public struct PersistentHistoryChange: Sendable, Hashable {
    /// What happened to the object.
    public enum ChangeType: Int, Sendable, Hashable, CaseIterable {
        /// It was inserted.
        case insert = 0
        /// It was changed.
        case update = 1
        /// It was deleted.
        case delete = 2
    }

    /// The number of the change in its store.
    public let changeID: Int64
    /// The object.
    public let changedObjectID: ManagedObjectID
    /// What happened to it.
    public let changeType: ChangeType
    /// The names of the properties that an update set, to-many relationships among them.
    ///
    /// `nil` for insertions and deletions, and where it is not known: after a migration that changed the entity, or if
    /// the history names properties that the model does not have.
    public let updatedProperties: Set<String>?
    /// The values that a deleted object's attributes had, if the model preserves them in the history.
    ///
    /// These are the attributes whose `preservesValueInHistoryOnDeletion` is set.
    ///
    /// `nil` for insertions and updates. Attributes without a value, and those with external storage, are missing.
    public let tombstone: [String: AttributeValue]?
    /// The ``PersistentHistoryTransaction/transactionNumber`` of its transaction.
    public let transactionNumber: Int64

    /// A request for changes, to be narrowed down by a predicate over `changeID`, `changeType`, `changedObjectID` and
    /// `changedEntity`, the name of the object's entity.
    public static var fetchRequest: PersistentHistoryFetchRequest { PersistentHistoryFetchRequest(.change) }
}

/// Selects transactions or changes by a predicate, for ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
public struct PersistentHistoryFetchRequest: Sendable {
    enum Subject: Sendable {
        case transaction, change
    }

    let subject: Subject
    /// The condition; `nil` selects everything.
    ///
    /// Its keys are listed at ``PersistentHistoryTransaction/fetchRequest`` and ``PersistentHistoryChange/fetchRequest``.
    public var predicate: FetchPredicate?
    /// The maximum number of transactions or changes, the oldest first.
    ///
    /// Default: 0, no limit.
    public var fetchLimit = 0

    init(_ subject: Subject) {
        self.subject = subject
    }
}
