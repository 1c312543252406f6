/// How a member stood is put back exactly: neither what the store has nor a later look at it must matter.
extension ToManyState {
    /// What was said of an object since the relationship was read or saved.
    enum Standing {
        case untouched, added, removed
    }

    func standing(of object: ManagedObject) -> Standing {
        if added.contains(where: { $0 === object }) { return .added }
        return removed.contains { $0 === object } ? .removed : .untouched
    }

    /// Where a member stands, if that is known.
    func place(of object: ManagedObject) -> Int? {
        isLoaded && contains(object) ? members.firstIndex { $0 === object } : nil
    }

    func restore(_ object: ManagedObject, _ standing: Standing, at place: Int?) {
        retract(object)
        switch standing {
        case .untouched: break
        case .added: add(object)
        case .removed: remove(object)
        }
        if let place { put(object, at: place, isRearrangement: false) }
    }
}
