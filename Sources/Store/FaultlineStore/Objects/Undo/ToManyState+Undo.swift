/// Restores a member's exact unsaved state, independent of the stored members and of when they are loaded.
extension ToManyState {
    /// The unsaved change of a member since the relationship was last read or saved.
    enum Standing {
        case untouched, added, removed
    }

    func standing(of object: ManagedObject) -> Standing {
        if added.contains(where: { $0 === object }) { return .added }
        return removed.contains { $0 === object } ? .removed : .untouched
    }

    /// The index of a member, if known.
    func position(of object: ManagedObject) -> Int? {
        isLoaded && contains(object) ? members.firstIndex { $0 === object } : nil
    }

    func restore(_ object: ManagedObject, _ standing: Standing, at position: Int?) {
        retract(object)
        switch standing {
        case .untouched: break
        case .added: add(object)
        case .removed: remove(object)
        }
        if let position { put(object, at: position, isRearrangement: false) }
    }
}
