public import Foundation

/// Fetches or deletes the persistent history of stores.
///
/// Stores record a history if their description sets ``PersistentStoreDescription/tracksPersistentHistory``.
///
///     let request = PersistentHistoryChangeRequest.fetchHistory(after: lastToken)
///     for transaction in try context.execute(request).transactions where transaction.author != "app" {
///         context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
///     }
public struct PersistentHistoryChangeRequest: Sendable {
    /// What a request for history returns.
    public enum ResultType: Sendable, Hashable, CaseIterable {
        /// Only whether the request succeeded: one that fails throws its error.
        case statusOnly
        /// The IDs of the changed objects, each once.
        case objectIDs
        /// The number of changes.
        case count
        /// The transactions without their changes.
        case transactionsOnly
        /// The changes alone.
        case changesOnly
        /// The transactions with their changes.
        case transactionsAndChanges
    }

    enum Position: Sendable {
        case beginning
        case date(Date)
        case token(PersistentHistoryToken)
        case fetch(PersistentHistoryFetchRequest)
    }

    let position: Position
    let isDeletion: Bool
    /// What the request returns.
    ///
    /// Default: the transactions with their changes; of a deletion, only that it succeeded.
    public var resultType: ResultType
    /// The stores whose history is fetched or deleted.
    ///
    /// Default: `nil`, all that track it.
    public var affectedStores: [PersistentStore]?

    private init(_ position: Position, isDeletion: Bool = false) {
        self.position = position
        self.isDeletion = isDeletion
        resultType = isDeletion ? .statusOnly : .transactionsAndChanges
    }

    /// Fetches the transactions after a time.
    public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
        PersistentHistoryChangeRequest(.date(date))
    }

    /// Fetches the transactions after a position; with `nil`, and of stores that the token does not know, all of them.
    public static func fetchHistory(after token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
        PersistentHistoryChangeRequest(token.map { .token($0) } ?? .beginning)
    }

    /// Fetches the transactions after another one.
    public static func fetchHistory(
        after transaction: PersistentHistoryTransaction
    ) -> PersistentHistoryChangeRequest {
        PersistentHistoryChangeRequest(.token(transaction.token))
    }

    /// Fetches the transactions, or the changes with their transactions, that a predicate selects.
    public static func fetchHistory(withFetch request: PersistentHistoryFetchRequest) -> PersistentHistoryChangeRequest
    {
        PersistentHistoryChangeRequest(.fetch(request))
    }

    /// Deletes the transactions before a time.
    public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
        PersistentHistoryChangeRequest(.date(date), isDeletion: true)
    }

    /// Deletes the transactions before the one that a token names, which stays; with `nil`, deletes nothing.
    ///
    /// Of stores that the token does not know, nothing is deleted.
    public static func deleteHistory(before token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
        PersistentHistoryChangeRequest(.token(token ?? PersistentHistoryToken([:])), isDeletion: true)
    }

    /// Deletes the transactions before another one, which stays.
    public static func deleteHistory(
        before transaction: PersistentHistoryTransaction
    ) -> PersistentHistoryChangeRequest {
        PersistentHistoryChangeRequest(.token(transaction.token), isDeletion: true)
    }
}

/// The result of a request for history.
public struct PersistentHistoryResult: Sendable {
    /// What the request asked for.
    public let resultType: PersistentHistoryChangeRequest.ResultType
    /// The transactions, the oldest of each store first; empty unless the request asked for them.
    public internal(set) var transactions: [PersistentHistoryTransaction] = []
    /// The changes, the oldest of each store first; empty unless the request asked for changes alone.
    public internal(set) var changes: [PersistentHistoryChange] = []
    /// The changed objects, in the order of their first change; empty unless the request asked for IDs.
    public internal(set) var objectIDs: [ManagedObjectID] = []
    /// The number of changes that were fetched; of a deletion, the number of deleted transactions.
    public internal(set) var count = 0
}
