import Dispatch

extension ManagedObjectContext {
    /// Tells observers what changed since they were told last, and takes in what other contexts have saved if
    /// ``automaticallyMergesChangesFromParent`` is set.
    ///
    /// A `perform` does this before and after its work, and a save before it saves; a main context that is used outside
    /// `perform` does it when the main queue has its turn. A program whose main thread runs no loop calls it by itself,
    /// or works in ``performAndWait(_:)``.
    public func processPendingChanges() {
        checkQueue()
        mergeReceived()
        postChanges()
    }

    /// Posts ``didChangeObjectsNotification`` if something changed.
    ///
    /// What observers change meanwhile is told the next time.
    func postChanges() {
        postChanges(from: nil)
    }

    /// Posts ``didChangeObjectsNotification`` if something changed, and tells the children that merge automatically.
    ///
    /// - Parameter child: the child whose save made the changes; `nil`: none.
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

    /// Notes what changed, if somebody may listen.
    @inline(__always)
    func logChange(_ change: (inout ChangeLog) -> Void) {
        if areChangesLogged { logWanted(change) }
    }

    /// Whether an observer or a child may want to know what changes.
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
