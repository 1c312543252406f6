/// The changes that saves made to one entity.
package struct EntityChanges: Sendable, Hashable {
    /// The number of saves that changed an object of the entity.
    package internal(set) var saves: UInt64 = 0
    package internal(set) var inserted: UInt64 = 0
    package internal(set) var updated: UInt64 = 0
    package internal(set) var deleted: UInt64 = 0

    package init() {}

    /// The number of rows that were written.
    package var rows: UInt64 { inserted &+ updated &+ deleted }
}

extension EntityChanges: Summed, StartsEmpty {
    package static let parts: [SumPart<EntityChanges>] = [
        .sum("saves", \.saves), .sum("inserted", \.inserted), .sum("updated", \.updated), .sum("deleted", \.deleted),
    ]
}
