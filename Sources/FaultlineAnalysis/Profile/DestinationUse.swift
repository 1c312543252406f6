internal import FaultlineTrace

/// What was done with the objects that a to-one relationship leads to.
struct DestinationUse: Sendable {
    /// The properties that were read.
    var properties: Set<String> = []
    /// 1: more is done with some of them than is told, as with those that are changed or come in other ways as well.
    var untold: UInt64 = 0

    mutating func insert(_ entry: DestinationUseEntry) {
        if let property = entry.property { properties.insert(property) } else { untold = 1 }
    }
}

extension DestinationUse: Summed, StartsEmpty {
    static let parts: [SumPart<DestinationUse>] = [
        .union("properties", \.properties), .maximum("untold", \.untold),
    ]
}
