/// What saves changed of one entity.
public struct EntityChanges: Sendable, Hashable {
    /// Saves that changed an object of it.
    public internal(set) var saves: UInt64 = 0
    public internal(set) var inserted: UInt64 = 0
    public internal(set) var updated: UInt64 = 0
    public internal(set) var deleted: UInt64 = 0

    /// Rows that were written.
    public var rows: UInt64 { inserted &+ updated &+ deleted }
}

extension EntityChanges: Summed, StartsEmpty {
    static let parts: [SumPart<EntityChanges>] = [
        .sum("saves", \.saves), .sum("inserted", \.inserted), .sum("updated", \.updated), .sum("deleted", \.deleted),
    ]
}
