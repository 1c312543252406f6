internal import FaultlineTrace

/// Something that is open in one scope, and is added to its like in others.
protocol OpenGroup: Sendable {
    associatedtype Key: ScopedKey
    mutating func merge(_ other: Self)
}

/// A key of something that is open in a scope.
protocol ScopedKey: Hashable, Sendable {
    var scope: EventID { get set }
}

extension ProcessContext {
    /// Groups that are added up by the piece of work that their scopes belong to, without those of preparation.
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
