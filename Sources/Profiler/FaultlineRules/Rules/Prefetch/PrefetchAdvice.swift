internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R01's findings.
struct PrefetchAdvice {
    let key: FaultEvidence.Key
    let evidence: FaultEvidence
    /// The share of the loaded rows whose faults fired.
    let share: Double
    let paths: KeyPaths
    let api: StoreCode
    /// Whether the program only counted the members.
    let isCounted: Bool
    /// The attributes that were read at the destination, if they are few.
    let columns: ReadColumns?

    init(key: FaultEvidence.Key, evidence: FaultEvidence, share: Double, paths: KeyPaths, api: StoreCode) {
        (self.key, self.evidence, self.share, self.paths, self.api) = (key, evidence, share, paths, api)
        isCounted = Self.isCounted(key, evidence, paths)
        let isToOne = evidence.types[.toOne] == evidence.trips
        columns = isToOne ? Self.edge(of: key).flatMap { ReadColumns($0, of: key.fetch, paths) } : nil
    }

    private var shape: ShapeEntry { key.fetch.shape }
    private var isBatched: Bool { evidence.fetches.contains { $0.key > 0 } }

    private var edge: FetchProfile.Edge? { Self.edge(of: key) }

    private static func edge(of key: FaultEvidence.Key) -> FetchProfile.Edge? {
        guard case .relationship(let entity, let name) = key.subject else { return nil }
        return FetchProfile.Edge(entity: entity, name: name)
    }

    /// The key path to prefetch, or `nil` if there is no relationship or its path is unknown.
    private var keyPath: String? { edge.flatMap { paths.path(to: $0, of: key.fetch) } }

    /// The entity of the objects that faulted, if the trace does not show the relationship that led to them.
    ///
    /// `nil` if it does, or if the fetch itself returned the objects.
    private var relatedEntity: String? {
        guard case .target(let entity) = key.subject,
            paths.profile.tree(of: entity) != paths.profile.tree(of: shape.entity)
        else { return nil }
        return entity
    }

    private var missingValues: MissingValues { MissingValues(shape, evidence, paths.profile.fetch(key.fetch)) }

    private var what: Wording {
        switch key.subject {
        case .relationship(let entity, let name): "\(property: "\(entity).\(name)")"
        case .target(let entity): "\(entity: entity)"
        }
    }

    /// Whether the fetch already prefetches the key path.
    var isPrefetched: Bool { keyPath.map { shape.prefetch.contains($0) } ?? false }

    /// Whether few rows of an unbatched fetch fire.
    ///
    /// It is then better to load the destinations of those rows together.
    private var isSparse: Bool { share < PrefetchRule.minimumShare.value && !isBatched }

    /// Whether the program only counted the members.
    ///
    /// Reading a member fires its fault, unless something else loaded it before. In that case the trace does not show
    /// it.
    private static func isCounted(_ key: FaultEvidence.Key, _ evidence: FaultEvidence, _ paths: KeyPaths) -> Bool {
        guard let edge = edge(of: key), evidence.types[.toMany] == evidence.trips,
            let fetch = paths.profile.fetch(key.fetch),
            fetch.total(\.executions) > 0, let destination = paths.destination(of: edge),
            let fired = fetch.firedRelationships[edge], fetch.askedToMany[edge] == fired
        else { return false }
        let tree = paths.profile.tree(of: destination)
        // A relationship of a member that fired shows that the program walked on from it.
        let walksOn = fetch.firedRelationships.keys.contains { $0 != edge && paths.profile.tree(of: $0.entity) == tree }
        guard !walksOn else { return false }
        return !paths.profile.fetches.contains { other in
            // Without scopes, all fetches are in the same one.
            guard evidence.scopes.isEmpty || evidence.scopes.keys.contains(where: { other.counts.scopes[$0] != nil })
            else { return false }
            return paths.profile.tree(of: other.key.shape.entity) == tree
                || other.key.shape.prefetch.contains { path in
                    let ends = paths.edges(of: path, from: other.key.shape.entity)
                    return ends.contains { paths.destination(of: $0).map { paths.profile.tree(of: $0) } == tree }
                }
        }
    }

    /// The members' relationship to their owner, or `nil` if the trace does not have it.
    private var inverse: String? {
        edge.flatMap { paths.profile.entity($0.entity)?.property($0.name)?.inverse }
    }

    private func derived(_ edge: FetchProfile.Edge) -> Wording {
        "Keep the count in a derived attribute of \(entity: edge.entity) (\(code: "\(edge.name).@count")), which the "
            + "store updates."
    }

    var alternatives: [Wording] {
        if isCounted, inverse != nil { return edge.map { [derived($0)] } ?? [] }
        guard let columns, columns.mayBeDictionaries, let keyPath else { return [] }
        return [columns.alternative(path: keyPath)]
    }

    /// Reservations about the advice.
    var reservations: [Wording] {
        isCounted
            ? [
                "If other code holds the members in memory, the trace does not show that they are read. In that case, "
                    + "prefetch them."
            ] : []
    }

    /// `nil` if few rows fire, or the trace does not show the path.
    var remedy: Remedy? {
        guard !isSparse, !isCounted, let keyPath else { return nil }
        return .change(key.fetch, FetchChange(prefetch: [keyPath]))
    }

    var title: Wording {
        if isCounted { return "Count \(what) for all objects at once: the members are never read" }
        if isSparse { return "Load \(what) for the objects that are used, in one fetch" }
        if let keyPath { return "Prefetch \(quoted: keyPath) with the fetch of \(entity: shape.entity)" }
        if edge != nil { return "Prefetch \(what) with the fetch of \(entity: shape.entity)" }
        if let relatedEntity {
            return
                "Prefetch the relationship to \(entity: relatedEntity) with the fetch of \(entity: shape.entity)"
        }
        return "Load the values of \(what) with the fetch itself"
    }

    /// The action as a phrase for a sentence: `"prefetching"`.
    var method: String {
        if isCounted { return "counting the members at once" }
        return isSparse || edge == nil ? "loading the rows at once" : "prefetching"
    }

    var fix: Wording {
        if isCounted, let edge {
            let members: Wording = paths.destination(of: edge).map { "\(entity: $0)" } ?? "the members"
            return inverse.map { "One fetch of \(members), grouped by \(property: $0), counts them all." }
                ?? derived(edge)
        }
        if isSparse {
            return
                "Only \(percent: share) of the fetched objects fire a fault, so do not prefetch for all: before you "
                + "use these, load the rows that they need with one fetch."
        }
        if let keyPath {
            return "Add \(quoted: keyPath) to \(code: "relationshipKeyPathsForPrefetching") of this fetch."
        }
        if edge != nil {
            return
                "Add the key path that ends in \(what) to \(code: "relationshipKeyPathsForPrefetching") of this "
                + "fetch. The trace does not show the path from \(entity: shape.entity) to it."
        }
        if let relatedEntity {
            return
                "Add the key path that ends at \(entity: relatedEntity) to "
                + "\(code: "relationshipKeyPathsForPrefetching") of this fetch."
        }
        return missingValues.fix
    }

    var code: [String] {
        if isCounted, let edge, let members = paths.destination(of: edge) {
            guard let inverse else { return [] }
            return api.grouped(
                members, by: inverse, "count", "count", of: "self", predicate: [api.predicate(in: inverse, "ids")],
                result: "counts")
        }
        if isSparse {
            // The used objects are fetched again, but only their relationship is loaded.
            guard let edge, edge.entity == shape.entity else {
                let name = edge.flatMap { paths.destination(of: $0) } ?? edge?.entity ?? what.text
                return api.objects(name)
            }
            return api.objects(shape.entity, ids: "used.map(\\.objectID)", prefetching: edge.name)
        }
        if let keyPath {
            let all = (shape.prefetch.filter { $0 != keyPath } + [keyPath]).map { "\"\($0)\"" }.joined(separator: ", ")
            return ["request.relationshipKeyPathsForPrefetching = [\(all)]"]
        }
        return edge == nil && relatedEntity == nil ? missingValues.code : []
    }

    var explanation: [Wording] {
        var sentences: [Wording] = []
        let trips: Wording = "\(trips: evidence.trips)"
        let per = evidence.trips / max(1, evidence.occurrences)
        let objects = DistinctCount.words(evidence.objects, over: evidence.occurrences, "object")
        let times: Wording =
            evidence.occurrences == 1
            ? "" : ", about \(count: per) on each of \(count: evidence.occurrences) occasions,"
        sentences.append(
            "\(what) went to the store in \(trips)\(times) for \(objects), \(duration: evidence.time) in all.")
        let fetches = evidence.fetches.values.reduce(0, &+)
        let rows: Wording = "\(rows: evidence.originRows, "loaded row")"
        let fired: Wording = share >= 0.995 ? "all of them" : "\(percent: share) of them"
        sentences.append(
            "They belong to \(count: fetches, "fetch", plural: "fetches") of \(entity: shape.entity) with \(rows); "
                + "\(fired) were affected.")
        if let columns { sentences.append(columns.explanation) }
        if evidence.seenBefore > 0 {
            sentences.append("\(count: evidence.seenBefore, "object") had been in the row cache before.")
        }
        return sentences
    }

    var signature: String {
        ["R01", what.text, SignatureText.shape(shape), key.fetch.site?.function ?? ""].joined(separator: "|")
    }
}
