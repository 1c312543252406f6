import FaultlineModel
import FaultlineRecorder
import Synchronization

/// The permanent key that replaced an object's temporary key.
struct PermanentKey {
    var old: ObjectKey
    var key: Int64
}

extension ManagedObjectContext {
    /// Moves new objects to the keys that were reserved for them, and passes the keys to the children.
    ///
    /// The children know some of the objects by temporary keys.
    func updateKeys(of objects: [ManagedObject]) {
        let children = children.all
        guard parent != nil || !children.isEmpty else { return identities.updateKeys(of: objects) }
        let old = objects.map(\.objectKey)
        identities.updateKeys(of: objects)
        let keys = zip(old, objects).compactMap { old, object in
            old.key < 0 ? PermanentKey(old: old, key: object.key) : nil
        }
        note(keys)
        for child in children { child.receive(keys) }
    }

    private func note(_ keys: [PermanentKey]) {
        for key in keys { permanentKeys[key.old] = key.key }
    }

    /// Receives permanent keys, on the parent's queue.
    private func receive(_ keys: [PermanentKey]) {
        guard !keys.isEmpty else { return }
        let isFirst = receivedKeys.withLock { received in
            defer { received += keys }
            return received.isEmpty
        }
        for child in children.all { child.receive(keys) }
        // Every block on a private queue begins by applying them.
        if isFirst, concurrencyType == .mainQueue { scheduleMerge() }
    }

    /// Applies the permanent keys that an ancestor has assigned since the last call.
    func applyPermanentKeys() {
        guard parent != nil else { return }
        let keys = receivedKeys.withLock { received in
            defer { received = [] }
            return received
        }
        guard !keys.isEmpty else { return }
        note(keys)
        for new in keys {
            guard let object = identities.object(map: new.old.map, key: new.old.key) else { continue }
            identities.remove(object)
            object.key = new.key
            identities.insert(object)
        }
        for object in identities.objects() { object.replaceTemporaryKeys() }
    }

    /// Waits until no ancestor is saving, and applies the permanent keys.
    func awaitAncestors() {
        guard let parent else { return }
        inParent(parent) { parent.awaitAncestors() }
        applyPermanentKeys()
    }

    /// The current key of an object.
    func currentKey(_ map: Int, _ key: Int64) -> Int64 {
        key < 0 ? permanentKeys[ObjectKey(map: map, key: key)] ?? key : key
    }

    /// Obtains permanent IDs for objects that ancestors have inserted.
    func obtainPermanentIDs(
        ofInherited objects: [ManagedObject], in parent: ManagedObjectContext, _ site: CallerSite
    ) throws {
        try inParent(parent, site: recorder.isEnabled ? origin(at: site).site : 0) {
            let theirs = objects.map { parent.object($0.runtime, key: $0.key) }
            try parent.obtainPermanentIDs(for: theirs, fileID: site.fileID, line: site.line, function: site.function)
            applyPermanentKeys()
        }
    }
}

extension ManagedObject {
    /// Rebuilds a row that refers to objects by temporary keys.
    fileprivate final func replaceTemporaryKeys() {
        guard let row, row.isInherited else { return }
        let context = managedObjectContext
        var changed: [Int: Int64] = [:]
        for property in runtime.schema.properties
        where property.kind == .toOne && property.slot >= 0 && row.hasValue(slot: property.slot) {
            let key = row.integer(at: runtime.offsets[property.index])
            let current = context.currentKey(runtime.store.entities[property.destination].map, key)
            if current != key { changed[property.slot] = current }
        }
        guard !changed.isEmpty || row.key != key else { return }
        let made = makeInheritedRow { slot in changed[slot].map { .integer($0) } }
        (self.row, block) = (made.row, made.block)
    }
}
