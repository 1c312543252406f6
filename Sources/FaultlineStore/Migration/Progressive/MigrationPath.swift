package import FaultlineModel
import Foundation

/// The steps that lead a store from its version to another one: the fewest that inference and mapping models allow.
///
/// Inference never passes over a mapping model, because the values that it converts would be lost.
package struct MigrationPath: Sendable {
    package struct Step: Sendable {
        package let old: ManagedObjectModel
        package let new: ManagedObjectModel
        /// `nil` for a step that is inferred.
        package let mapping: MappingModel?
    }

    package let steps: [Step]

    /// A mapping model with the versions that it fits, by their positions.
    private struct Fit {
        let mapping: MappingModel
        let sources: Set<Int>
        let destinations: Set<Int>

        func fits(_ old: Int, _ new: Int) -> Bool { sources.contains(old) && destinations.contains(new) }

        /// Whether the mapping model lies between two versions.
        func lies(between old: Int, and new: Int) -> Bool {
            sources.contains { source in
                source >= old && destinations.contains { $0 > source && $0 <= new }
            }
        }
    }

    /// Finds the steps.
    ///
    /// - Parameters:
    ///   - old: The version of the store.
    ///   - new: The version to which the steps lead.
    ///   - known: The versions from the oldest to the newest. The steps go through them only if the store's version is one.
    ///   - infers: Whether steps may be inferred.
    ///   - path: The store's file, for messages.
    /// - Returns: `nil` if no steps lead there.
    /// - Throws: ``StoreError`` if a mapping model would be left out although it leads to the new version, or if several fit
    ///   a step.
    package init?(
        from old: ManagedObjectModel, to new: ManagedObjectModel, through known: [ManagedObjectModel],
        mappings: [MappingModel], infers: Bool, path: String
    ) throws(StoreError) {
        if mappings.isEmpty, infers, (try? MigrationRules(inferredFrom: old, to: new)) != nil {
            steps = [Step(old: old, new: new, mapping: nil)]
            return
        }
        let versions = Self.versions(from: old, to: new, through: known)
        let fits = Self.fits(mappings, versions)
        guard let positions = Self.shortest(versions, fits, infers: infers) else { return nil }
        var steps: [Step] = []
        for (start, end) in zip(positions, positions.dropFirst()) {
            let fitting = fits.filter { $0.fits(start, end) }
            guard fitting.count <= 1 else {
                throw StoreError(
                    .missingMappingModel,
                    "Migrating '\(path)' is refused because \(fitting.count) of its mappingModels fit the two versions; leave one of them out."
                )
            }
            steps.append(Step(old: versions[start], new: versions[end], mapping: fitting.first?.mapping))
        }
        self.steps = steps
        if steps.last?.mapping == nil { try Self.checkLeftOut(fits, versions, path) }
    }

    /// The versions from the store's to the newest one.
    ///
    /// - Parameter known: The versions from the oldest to the newest.
    package static func versions(
        from old: ManagedObjectModel, to new: ManagedObjectModel, through known: [ManagedObjectModel]
    ) -> [ManagedObjectModel] {
        let checksums = known.map(\.versionChecksum)
        let last = new.versionChecksum
        // Nothing leads back through newer versions.
        guard let start = checksums.firstIndex(of: old.versionChecksum), checksums.firstIndex(of: last) ?? .max > start
        else { return [old, new] }
        return zip(known, checksums).dropFirst(start).prefix { $0.1 != last }.map(\.0) + [new]
    }

    private static func fits(_ mappings: [MappingModel], _ versions: [ManagedObjectModel]) -> [Fit] {
        let hashes = versions.map(\.entityVersionHashesByName)
        return mappings.filter { !$0.entityMappings.isEmpty }.map { mapping in
            Fit(
                mapping: mapping,
                sources: Set(hashes.indices.filter { mapping.misfit(source: hashes[$0]) == nil }),
                destinations: Set(hashes.indices.filter { mapping.misfit(destination: hashes[$0]) == nil }))
        }
    }

    /// The positions of the versions that the fewest steps go through.
    private static func shortest(_ versions: [ManagedObjectModel], _ fits: [Fit], infers: Bool) -> [Int]? {
        let last = versions.count - 1
        var origins: [Int?] = Array(repeating: nil, count: versions.count)
        var reached = [0]
        while !reached.isEmpty {
            var next: [Int] = []
            for start in reached {
                // The newest version first, as one step to it is the end.
                for end in (start + 1..<versions.count).reversed() where origins[end] == nil {
                    let isMapped = fits.contains { $0.fits(start, end) }
                    guard isMapped || infers && isInferable(start, end, versions, fits) else { continue }
                    origins[end] = start
                    if end == last { return positions(origins) }
                    next.append(end)
                }
            }
            reached = next.sorted()
        }
        return nil
    }

    private static func isInferable(_ start: Int, _ end: Int, _ versions: [ManagedObjectModel], _ fits: [Fit]) -> Bool {
        guard !fits.contains(where: { $0.lies(between: start, and: end) }) else { return false }
        return (try? MigrationRules(inferredFrom: versions[start], to: versions[end])) != nil
    }

    private static func positions(_ origins: [Int?]) -> [Int] {
        var positions = [origins.count - 1]
        while let origin = origins[positions[0]] { positions.insert(origin, at: 0) }
        return positions
    }

    /// Checks that no mapping model leads to the newest version from one that is not known.
    private static func checkLeftOut(
        _ fits: [Fit], _ versions: [ManagedObjectModel], _ path: String
    ) throws(StoreError) {
        let last = versions.count - 1
        guard let left = fits.first(where: { $0.destinations.contains(last) && $0.sources.isEmpty }),
            let misfit = left.mapping.misfit(source: versions[0].entityVersionHashesByName)
        else { return }
        throw StoreError(
            .missingMappingModel,
            "Migrating '\(path)' is refused because a mapping model leads to this version, but from another one than the store's: \(misfit). List all versions in sourceModels, from the oldest to the newest, or leave the mapping model out."
        )
    }
}
