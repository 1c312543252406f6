internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R01: the reason why the objects of a fetch went to the store for their own values.
enum MissingValues {
    /// The fetch returned object IDs.
    case objectIDs
    /// The fetch's `includesPropertyValues` is false.
    case keysOnly
    /// The fetch's `propertiesToFetch` lacks these properties, in alphabetical order.
    case partial([String], fetched: [String])
    /// Most of the rows had been in the row cache, and were evicted.
    case evicted
    /// The trace does not show it.
    case unknown

    init(_ shape: ShapeEntry, _ evidence: FaultEvidence, _ fetch: FetchProfile?) {
        if shape.resultType == "objectIDs" {
            self = .objectIDs
        } else if shape.includesPropertyValues == false {
            self = .keysOnly
        } else if let fetched = shape.expressions {
            let read = (fetch?.properties[shape.entity] ?? [:]).filter { $0.value.rowsRead > 0 }.keys
            self = .partial(read.filter { !fetched.contains($0) }.sorted(), fetched: fetched)
        } else {
            self = Significance.isAtLeastHalf(evidence.seenBefore, of: evidence.trips) ? .evicted : .unknown
        }
    }

    var fix: Wording {
        switch self {
        case .objectIDs: "Fetch objects instead of object IDs."
        case .keysOnly: "Let the fetch load the values: leave \(code: "includesPropertyValues") on."
        case .partial(let missing, _) where missing.isEmpty:
            "The objects are partial faults: name every property that is read later in \(code: "propertiesToFetch"), or set none."
        case .partial(let missing, _):
            "The objects are partial faults. Add \(missing.map { "\(quoted: $0)" as Wording }.joined(separator: ", ")) to \(code: "propertiesToFetch"): "
                + "reading \(missing.count == 1 ? "it" : "them") loads the whole row."
        case .evicted:
            "The row cache evicted most of these rows before they were read again. Keep the objects, or load the rows again "
                + "in one fetch."
        case .unknown:
            "Load the values with the fetch: turn \(code: "includesPropertyValues") on, and either leave \(code: "propertiesToFetch") empty or name "
                + "every property that is read."
        }
    }

    var code: [String] {
        switch self {
        case .objectIDs: ["try context.fetch(request)"]
        case .keysOnly: ["request.includesPropertyValues = true"]
        case .partial(let missing, let fetched) where !missing.isEmpty:
            ["request.propertiesToFetch = [\(Self.quoted(fetched + missing))]"]
        case .partial, .evicted, .unknown: []
        }
    }

    private static func quoted(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
}
