import Dispatch

extension ManagedObjectContext {
    /// Notifies observers of the changes since the last notification, and merges received saves.
    ///
    /// Other contexts' saves are received if ``automaticallyMergesChangesFromParent`` is set. A `perform` processes
    /// pending changes before and after its closure, and a save notifies observers before it writes. A main-queue
    /// context that is used outside `perform` notifies them on the next turn of the main queue. A program whose main
    /// thread runs no loop must call this method, or work in ``performAndWait(fileID:line:function:_:)``.
    public func processPendingChanges() {
        checkQueue()
        mergeReceived()
        postChanges()
    }

    /// Posts ``didChangeObjectsNotification`` if something changed.
    ///
    /// Changes that observers make are reported the next time.
    func postChanges() {
        postChanges(from: nil)
    }

    /// Posts ``didChangeObjectsNotification`` if something changed, and passes the changes to children that merge
    /// automatically.
    ///
    /// - Parameter child: The child whose save made the changes; `nil` if there is none.
    func postChanges(from child: ManagedObjectContext?) {
        guard !changeLog.isEmpty else { return }
        let changes = changeLog
        changeLog = ChangeLog()
        if !followers.isEmpty { followers.tell(SavedObjectIDs(changes, of: self), from: child) }
        guard ContextNotification.didChange.isWanted else { return }
        if changes.isReset { return post(.didChange, [(.invalidatedAllObjects, true)]) }
        post(
            .didChange,
            [
                (.insertedObjects, changes.inserted), (.updatedObjects, changes.updated),
                (.deletedObjects, changes.deleted), (.refreshedObjects, changes.refreshed),
            ])
    }

    /// Logs a change if an observer or a child may want it.
    @inline(__always)
    func logChange(_ change: (inout ChangeLog) -> Void) {
        if areChangesLogged { logWanted(change) }
    }

    /// Whether an observer or a child may want the changes.
    @inline(__always)
    var areChangesLogged: Bool { ContextNotification.didChange.isWanted || !followers.isEmpty }

    @inline(never)
    private func logWanted(_ change: (inout ChangeLog) -> Void) {
        let isFirst = changeLog.isEmpty
        change(&changeLog)
        guard isFirst, concurrencyType == .mainQueue, HeldContexts.current?.contains(self) != true else { return }
        DispatchQueue.main.async { [weak self] in self?.postChanges() }
    }
}
