internal import FaultlineTrace

/// The use of a to-one relationship's destination objects.
struct DestinationUse: Sendable {
    /// The properties that the program read.
    var properties: Set<String> = []
    /// 1 if some objects were used in ways the trace does not have, as when they were changed or also reached in other
    /// ways.
    var unrecorded: UInt64 = 0

    mutating func insert(_ entry: DestinationUseEntry) {
        if let property = entry.property { properties.insert(property) } else { unrecorded = 1 }
    }
}

extension DestinationUse: Summed, StartsEmpty {
    static let parts: [SumPart<DestinationUse>] = [
        .union("properties", \.properties), .maximum("unrecorded", \.unrecorded),
    ]
}
