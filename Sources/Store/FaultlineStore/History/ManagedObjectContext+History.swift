import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

extension ManagedObjectContext {
    /// Fetches or deletes the persistent history of the stores that track it.
    ///
    /// A fetch reads what other processes have written, even in a context that is pinned to a query generation. All that
    /// it selects is in memory at once.
    ///
    /// - Throws: ``StoreError`` if no store tracks its history; if transactions after the position were deleted
    ///   (``StoreError/Code/historyTokenExpired``); if a predicate uses an unknown key; or if a store cannot be read or,
    ///   for a deletion, written.
    @discardableResult
    public func execute(
        _ request: PersistentHistoryChangeRequest, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> PersistentHistoryResult {
        checkQueue()
        updateStoresIfChanged()
        try throwReadError()
        let affected = stores.filter { request.affectedStores?.contains($0.identity) != false }
        let tracked = affected.filter { $0.history != nil }
        guard !tracked.isEmpty else {
            throw StoreError(
                .invalidRequest,
                affected.isEmpty
                    ? "The context has none of the stores whose history is requested; add a store first, or leave affectedStores unset."
                    : "'\(affected[0].path)' was opened without its history; set tracksPersistentHistory in its description."
            )
        }
        for store in tracked where store.history?.tables.areMissing == true {
            throw StoreError(
                .invalidRequest,
                "'\(store.path)' has no history, and none is begun because it was opened read-only; open it writable once."
            )
        }
        var result = PersistentHistoryResult(resultType: request.resultType)
        let site = (fileID, line, function)
        if request.isDeletion {
            result.count = try delete(request.position, in: tracked, site)
            return result
        }
        let origin = recorder.isEnabled ? origin(at: site) : TraceOrigin()
        let isOfTransactions = request.resultType == .transactionsOnly && !request.position.selectsChanges
        var found: [PersistentHistoryTransaction] = []
        for store in tracked {
            let reading = HistoryReading(store: store, history: store.history!, origin: origin)
            found += try reading.transactions(request.position, withChanges: !isOfTransactions)
        }
        result.add(found)
        return result
    }

    /// Deletes history in one transaction per store, recorded as a save event without rows.
    private func delete(
        _ position: PersistentHistoryChangeRequest.Position, in stores: [SQLStore], _ site: CallerSite
    ) throws(StoreError) -> Int {
        try run(in: stores, .count, site) { (batch) throws(StoreError) in
            switch position {
            case .date(let date):
                try batch.deleteHistory(before: "ZTIMESTAMP", .real(date.timeIntervalSinceReferenceDate))
            case .token(let token):
                if let number = token.transactionNumbers[batch.store.identity.identifier] {
                    try batch.deleteHistory(before: "Z_PK", .integer(number))
                } else {
                    BatchResult(count: 0, objectIDs: [])
                }
            case .beginning, .fetch: BatchResult(count: 0, objectIDs: [])
            }
        }.count
    }
}

extension PersistentStoreCoordinator {
    /// The position after the last transaction of the stores that track their history; `nil` if none does.
    ///
    /// - Parameter stores: The stores; `nil` for all.
    /// - Throws: ``StoreError`` if a store cannot be read.
    public func currentPersistentHistoryToken(
        fromStores stores: [PersistentStore]? = nil
    ) throws(StoreError) -> PersistentHistoryToken? {
        var numbers: [String: Int64] = [:]
        for store in self.stores where stores?.contains(store.identity) != false {
            guard let history = store.history, !history.tables.areMissing else { continue }
            let reading = HistoryReading(store: store, history: history, origin: TraceOrigin())
            numbers[store.identity.identifier] = try reading.last()
        }
        return numbers.isEmpty ? nil : PersistentHistoryToken(numbers)
    }
}

extension PersistentHistoryChangeRequest.Position {
    /// Whether a predicate selects single changes.
    fileprivate var selectsChanges: Bool {
        if case .fetch(let request) = self { request.subject == .change } else { false }
    }
}

extension HistoryReading {
    /// The transactions after a position, or those that a request selects.
    fileprivate func transactions(
        _ position: PersistentHistoryChangeRequest.Position, withChanges: Bool
    ) throws(StoreError) -> [PersistentHistoryTransaction] {
        switch position {
        case .beginning: return try transactions(.all, withChanges: withChanges)
        case .date(let date):
            return try transactions(.afterTime(date.timeIntervalSinceReferenceDate), withChanges: withChanges)
        case .token(let token):
            guard let number = token.transactionNumbers[store.identity.identifier] else {
                return try transactions(.all, withChanges: withChanges)
            }
            let found = try transactions(.after(number), withChanges: withChanges)
            // Afterward, so that a deletion in the meantime is noticed.
            try check(after: number)
            return found
        case .fetch(let request): return try transactions(selectedBy: request, withChanges: withChanges)
        }
    }

    private func transactions(
        selectedBy request: PersistentHistoryFetchRequest, withChanges: Bool
    ) throws(StoreError) -> [PersistentHistoryTransaction] {
        let limit = request.fetchLimit > 0 ? request.fetchLimit : .max
        switch request.subject {
        case .transaction:
            let predicate = try request.predicate.map { (predicate) throws(StoreError) in
                try HistoryPredicate(predicate, keys: PersistentHistoryTransaction.keys)
            }
            let all = try transactions(.all, withChanges: withChanges)
            return Array(all.lazy.filter { predicate?.holds($0.value) != false }.prefix(limit))
        case .change:
            let predicate = try request.predicate.map { (predicate) throws(StoreError) in
                try HistoryPredicate(predicate, keys: PersistentHistoryChange.keys)
            }
            var left = limit
            return try transactions(.all, withChanges: true).compactMap { transaction in
                let chosen = (transaction.changes ?? []).filter { predicate?.holds($0.value) != false }.prefix(left)
                left -= chosen.count
                return chosen.isEmpty ? nil : transaction.with(Array(chosen))
            }
        }
    }
}

extension PersistentHistoryTransaction {
    /// The same transaction with other changes, or without any.
    fileprivate func with(_ changes: [PersistentHistoryChange]?) -> PersistentHistoryTransaction {
        PersistentHistoryTransaction(
            transactionNumber: transactionNumber, storeID: storeID, timestamp: timestamp, author: author,
            contextName: contextName, bundleID: bundleID, processID: processID, changes: changes)
    }
}

extension PersistentHistoryResult {
    fileprivate mutating func add(_ found: [PersistentHistoryTransaction]) {
        switch resultType {
        case .statusOnly: break
        case .transactionsOnly: transactions = found.map { $0.with(nil) }
        case .transactionsAndChanges: transactions = found
        case .changesOnly: changes = found.flatMap { $0.changes ?? [] }
        case .count: count = found.reduce(0) { $0 + ($1.changes?.count ?? 0) }
        case .objectIDs:
            var known: Set<ManagedObjectID> = []
            objectIDs = found.flatMap { $0.changes ?? [] }.map(\.changedObjectID).filter { known.insert($0).inserted }
        }
    }
}

extension BatchExecution {
    /// Deletes the transactions before a value of a column, with their changes.
    fileprivate mutating func deleteHistory(before column: String, _ value: SQLValue) throws(StoreError) -> BatchResult
    {
        let changes =
            column == "Z_PK"
            ? "ZTRANSACTIONID < ?" : "ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION WHERE \(column) < ?)"
        try run("DELETE FROM ACHANGE WHERE \(changes)", [value])
        return BatchResult(count: try run("DELETE FROM ATRANSACTION WHERE \(column) < ?", [value]), objectIDs: [])
    }
}
