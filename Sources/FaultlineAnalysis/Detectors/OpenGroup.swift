internal import FaultlineTrace

/// A group that is open in one scope, and merges with its counterparts in other scopes.
protocol OpenGroup: Sendable {
    associatedtype Key: ScopedKey
    mutating func merge(_ other: Self)
}

/// A key of a group that is open in a scope.
protocol ScopedKey: Hashable, Sendable {
    var scope: EventID { get set }
}

extension ProcessContext {
    /// Merges groups by the unit of work their scopes belong to, and drops those in set-up scopes.
    func units<Group: OpenGroup>(of groups: [(key: Group.Key, value: Group)]) -> [Group.Key: Group] {
        var units: [Group.Key: Group] = [:]
        for (key, group) in groups {
            let unit = unit(of: key.scope)
            guard !unit.isSetup else { continue }
            var merged = key
            merged.scope = unit.id
            if units[merged] == nil { units[merged] = group } else { units[merged]?.merge(group) }
        }
        return units
    }
}
