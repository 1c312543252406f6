internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R01: the one or two attributes that a program reads at the destination of a to-one relationship.
struct ReadColumns {
    /// The maximum number of destination attributes for which dictionaries are an alternative.
    static let most = Threshold(
        "R01", "maximumColumns", 2, .count,
        "maximum number of to-one destination attributes that a dictionary fetch can include")

    /// In alphabetical order.
    let names: [String]
    /// The destination entity.
    let destination: String
    /// Whether the fetch's own objects are only read, so dictionaries would be enough.
    let mayBeDictionaries: Bool

    /// Returns `nil` if the program reads more or changes values, if it follows further relationships, or if the trace
    /// is incomplete.
    init?(_ edge: FetchProfile.Edge, of fetch: FetchProfile.Key, _ paths: KeyPaths) {
        let profile = paths.profile
        guard let use = profile.destinationUse(of: edge), use.unrecorded == 0, profile.allProcesses.entriesLost == 0,
            (1...Self.most.count).contains(UInt64(use.properties.count)),
            let destination = paths.destination(of: edge), let entity = profile.entity(destination)
        else { return nil }
        let attributes = entity.properties.filter { $0.type != "toOne" && $0.type != "toMany" }.map(\.name)
        guard use.properties.isSubset(of: attributes) else { return nil }
        names = use.properties.sorted()
        self.destination = destination
        mayBeDictionaries = profile.fetch(fetch).map { Self.mayBeDictionaries($0, but: edge, profile) } ?? false
    }

    /// Whether dictionaries would be enough.
    ///
    /// They cannot be changed, have no further relationships and are not batched.
    private static func mayBeDictionaries(
        _ fetch: FetchProfile, but edge: FetchProfile.Edge, _ profile: Profile
    ) -> Bool {
        let readsOthers = fetch.properties.contains { entity, uses in
            uses.contains { name, use in
                let type = profile.entity(entity)?.property(name)?.type
                return use.rowsRead > 0 && name != edge.name && (type == "toOne" || type == "toMany")
            }
        }
        return !readsOthers && fetch.key.shape.resultType == "objects" && !fetch.uses.isEmpty
            && fetch.uses.allSatisfy { $0.key == 0 && $0.value.modifiedRows == 0 }
            && fetch.firedRelationships.keys.allSatisfy { $0 == edge }
    }

    /// A sentence about the attributes that are read.
    var explanation: Wording {
        "Of the \(entity: destination) objects, only \(quoted(names)) \(names.count == 1 ? "is" : "are") read."
    }

    /// The alternative to prefetching.
    ///
    /// - Parameter path: The key path to the relationship.
    func alternative(path: String) -> Wording {
        "If the objects are only displayed, fetch dictionaries with \(quoted(names.map { "\(path).\($0)" })) in "
            + "propertiesToFetch: one statement, and no \(entity: destination) objects."
    }

    private func quoted(_ names: [String]) -> Wording {
        names.map { "\(quoted: $0)" as Wording }.joined(separator: " and ")
    }
}
