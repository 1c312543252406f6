internal import FaultlineTrace

/// R01: the one or two attributes that are all that a program reads at the other end of a to-one relationship.
struct ReadColumns {
    /// Attributes at the other end up to which they can come with the rows that lead there.
    static let most = Threshold(
        "R01", "maximumColumns", 2, .count,
        "maximum number of to-one destination attributes that a dictionary fetch can include")

    /// In alphabetical order.
    let names: [String]
    /// The entity at the other end.
    let destination: String
    /// Whether the fetch's objects are only looked at as well, so that dictionaries would do.
    let mayBeDictionaries: Bool

    /// `nil`: more is read, or changed, or the relationship leads on from there, or the trace does not tell everything.
    init?(_ edge: FetchProfile.Edge, of fetch: FetchProfile.Key, _ paths: KeyPaths) {
        let profile = paths.profile
        guard let use = profile.destinationUse(of: edge), use.untold == 0, profile.allProcesses.entriesLost == 0,
            (1...Self.most.count).contains(UInt64(use.properties.count)),
            let destination = paths.destination(of: edge), let entity = profile.entity(destination)
        else { return nil }
        let attributes = entity.properties.filter { $0.type != "toOne" && $0.type != "toMany" }.map(\.name)
        guard use.properties.isSubset(of: attributes) else { return nil }
        names = use.properties.sorted()
        self.destination = destination
        mayBeDictionaries = profile.fetch(fetch).map { Self.mayBeDictionaries($0, but: edge, profile) } ?? false
    }

    /// A dictionary can be neither changed nor asked for what else its object leads to, and comes in no batches.
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

    /// What is read, in words.
    var explanation: Wording {
        "Of the objects of \(entity: destination) that it leads to only \(quoted(names)) \(names.count == 1 ? "is" : "are") read."
    }

    /// What can be done instead of prefetching.
    ///
    /// - Parameter path: The key path to the relationship.
    func alternative(path: String) -> Wording {
        "Where the objects are only shown, fetch dictionaries with \(quoted(names.map { "\(path).\($0)" })) among "
            + "propertiesToFetch: one statement, and no object of \(entity: destination)."
    }

    private func quoted(_ names: [String]) -> Wording {
        names.map { "\(quoted: $0)" as Wording }.joined(separator: " and ")
    }
}
