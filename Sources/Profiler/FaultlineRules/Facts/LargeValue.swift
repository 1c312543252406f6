internal import FaultlineProfile
internal import FaultlineTrace

/// A property with long values, and the fetches that load it without reading it.
struct LargeValue: Sendable {
    static let minimumSize = Threshold("R09", "largeValue", 16384.0, .size, "minimum average size of a large value")
    /// The minimum share of loaded values that are large.
    static let minimumLargeShare = Threshold(
        "R09", "largeShare", 0.05, .share, "share of values with at least 16 KiB above which R09 reports them")
    /// The minimum share of rows in which a fetch reads the property to count as needing it.
    static let readShare = Threshold(
        "R09", "readShare", 0.25, .share,
        "minimum share of rows in which a fetch reads the value to count as needing it")
    /// The minimum rows that show how long the values are.
    static let minimumRows: UInt64 = 10
    /// The minimum unread bytes for a warning, however little time they cost.
    static let structuralBytes = 1_048_576.0

    var entity: String
    var property: EntityEntry.Property
    /// Its use by all fetches.
    var all = PropertyUse()
    /// Its use by the fetches that rarely read it.
    var hot = PropertyUse()
    /// The fetches that rarely read it.
    var fetches: [FetchProfile.Key] = []
    /// Bytes of all properties of the entity.
    var entityBytes: UInt64 = 0

    /// The average size of a value, in bytes.
    var mean: Double { all.rowsLoaded == 0 ? 0 : Double(all.bytes) / Double(all.rowsLoaded) }
    /// Rows that the fetches loaded without reading the value.
    var unread: UInt64 { hot.rowsLoaded - min(hot.rowsLoaded, hot.rowsRead) }
    var largeShare: Double { all.rowsLoaded == 0 ? 0 : Double(all.largeRows) / Double(all.rowsLoaded) }

    /// Returns the large values of a profile by name, and the number of properties that were examined.
    static func all(in profile: Profile) -> (values: [LargeValue], examined: Int) {
        var found: [String: LargeValue] = [:]
        var entityBytes: [String: UInt64] = [:]
        var examined: Set<String> = []
        for fetch in profile.fetches {
            for (entity, properties) in fetch.properties {
                let declared = profile.entity(entity)?.properties ?? []
                for (name, use) in properties {
                    let key = "\(entity).\(name)"
                    examined.insert(key)
                    entityBytes[entity, default: 0] &+= use.bytes
                    guard let property = declared.first(where: { $0.name == name }),
                        ["Binary", "String", "Transformable"].contains(property.type), property.isExternal != true
                    else { continue }
                    found[key, default: LargeValue(entity: entity, property: property)].add(use, of: fetch.key)
                }
            }
        }
        let values = found.ordered(on: \.key).map { _, value in
            var value = value
            value.entityBytes = entityBytes[value.entity] ?? 0
            return value
        }
        return (values.filter(\.isLarge), examined.count)
    }

    /// The properties that fetches load without reading them, such as `"Item.photo"`.
    static func unreadNames(in profile: Profile) -> Set<String> {
        Set(all(in: profile).values.filter { $0.unread > 0 }.map { "\($0.entity).\($0.property.name)" })
    }

    private mutating func add(_ use: PropertyUse, of fetch: FetchProfile.Key) {
        all.merge(use)
        guard Double(use.rowsRead) < Self.readShare.value * Double(use.rowsLoaded) else { return }
        hot.merge(use)
        fetches.append(fetch)
    }

    private var isLarge: Bool {
        guard all.rowsLoaded >= Self.minimumRows, hot.rowsLoaded > 0 else { return false }
        // The trace counts values of 16 KiB and more; for a larger threshold the average decides.
        let isCounted = Self.minimumSize.value <= Self.minimumSize.standard || mean >= Self.minimumSize.value
        if isCounted, largeShare > Self.minimumLargeShare.value { return true }
        return mean >= Self.minimumSize.value && Double(all.bytes) >= 0.25 * Double(entityBytes)
    }
}
