internal import FaultlineTrace

/// What was done with the objects that a to-one relationship leads to.
struct DestinationUse: Sendable {
    /// The properties that were read.
    var properties: Set<String> = []
    /// Whether any of the objects was changed or deleted.
    var isChanged: UInt64 = 0

    mutating func insert(_ entry: DestinationUseEntry) {
        if let property = entry.property { properties.insert(property) } else { isChanged = 1 }
    }
}

extension DestinationUse: Summed, StartsEmpty {
    static let parts: [SumPart<DestinationUse>] = [
        .union("properties", \.properties), .maximum("isChanged", \.isChanged),
    ]
}
