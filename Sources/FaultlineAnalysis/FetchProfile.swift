public import FaultlineTrace

/// What is known of the fetches of one shape from one line: how they were loaded and what was done with their results.
public struct FetchProfile: Sendable {
    public struct Key: Sendable, Hashable {
        public var shape: ShapeEntry
        /// Where the fetch stands in the program; `nil`: not known.
        public var site: CallSite?
    }

    public let key: Key
    /// Use of the results, by the batch size in force.
    public internal(set) var uses: [UInt32: ResultUse] = [:]
    /// What was loaded and read of each property, by the entity's name and the property's.
    public internal(set) var properties: [String: [String: PropertyUse]] = [:]
    /// How often relationships fired on objects of these fetches, whether the store or the row cache served them.
    var firedRelationships: [Edge: UInt64] = [:]

    /// A relationship by the name of its entity and its own.
    struct Edge: Sendable, Hashable {
        var entity: String
        var name: String
    }

    init(_ key: Key) {
        self.key = key
    }

    mutating func merge(_ other: FetchProfile) {
        for (size, use) in other.uses { uses[size, default: ResultUse()].merge(use) }
        for (entity, properties) in other.properties {
            for (name, use) in properties {
                self.properties[entity, default: [:]][name, default: PropertyUse()].merge(use)
            }
        }
        firedRelationships.merge(other.firedRelationships, uniquingKeysWith: &+)
    }
}

/// What was loaded and read of one property.
public struct PropertyUse: Sendable, Hashable {
    public internal(set) var rowsLoaded: UInt64 = 0
    public internal(set) var rowsRead: UInt64 = 0
    /// Bytes of its values that were loaded.
    public internal(set) var bytes: UInt64 = 0
    /// Rows in which its value has at least 16 KiB.
    public internal(set) var largeRows: UInt64 = 0

    mutating func merge(_ other: PropertyUse) {
        rowsLoaded &+= other.rowsLoaded
        rowsRead &+= other.rowsRead
        bytes &+= other.bytes
        largeRows &+= other.largeRows
    }
}
