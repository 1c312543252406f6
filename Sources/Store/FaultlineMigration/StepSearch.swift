import FaultlineModel
import FaultlineStore
import Foundation

/// Finds the steps that lead from one version to another one: the fewest that inference and mapping models allow.
///
/// Inference never skips a mapping model, because the values that the model converts would be lost.
struct StepSearch {
    /// The versions from the store's to the newest one.
    private let versions: [ManagedObjectModel]
    private let fits: [Fit]
    private let infers: Bool
    /// The step from the first version to the last one, if it is known that it cannot be inferred.
    private let refused: MigrationRoute.Step?

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

    /// The way in which a version is reached.
    private struct Arrival {
        let start: Int
        /// `nil` if a mapping model leads there.
        let inferred: MigrationRoute.Step?
    }

    init(
        _ versions: [ManagedObjectModel], _ mappings: [MappingModel], infers: Bool, refused: MigrationRoute.Step?
    ) {
        (self.versions, self.infers, self.refused) = (versions, infers, refused)
        let hashes = versions.map(\.entityVersionHashesByName)
        fits = mappings.filter { !$0.entityMappings.isEmpty }.map { mapping in
            Fit(
                mapping: mapping,
                sources: Set(hashes.indices.filter { mapping.misfit(source: hashes[$0]) == nil }),
                destinations: Set(hashes.indices.filter { mapping.misfit(destination: hashes[$0]) == nil }))
        }
    }

    /// Returns the steps, or `nil` if none lead to the last version.
    ///
    /// - Parameter path: The store's file, for messages.
    /// - Throws: `StoreError` if a mapping model would be left out although it leads to the last version, or if several fit
    ///   a step.
    func steps(path: String) throws(StoreError) -> [MigrationRoute.Step]? {
        guard let arrivals = arrivals() else { return nil }
        var steps: [MigrationRoute.Step] = []
        var end = versions.count - 1
        while let arrival = arrivals[end] {
            let fitting = fits.filter { $0.fits(arrival.start, end) }
            guard fitting.count <= 1 else {
                throw StoreError(
                    .missingMappingModel,
                    "Migrating '\(path)' is refused because \(fitting.count) of its mappingModels fit the two versions; leave one of them out."
                )
            }
            let (old, new) = (versions[arrival.start], versions[end])
            steps.insert(
                arrival.inferred ?? MigrationRoute.Step(from: old, to: new, mapping: fitting.first?.mapping), at: 0)
            end = arrival.start
        }
        if steps.last?.mapping == nil { try checkLeftOut(path) }
        return steps
    }

    /// Returns the arrivals at the last version and at those on the way to it, with the fewest steps; `nil` if there is no way.
    private func arrivals() -> [Arrival?]? {
        let last = versions.count - 1
        var arrivals: [Arrival?] = Array(repeating: nil, count: versions.count)
        var reached = [0]
        while !reached.isEmpty {
            var next: [Int] = []
            for start in reached {
                // The newest version first, as one step to it is the end.
                for end in (start + 1..<versions.count).reversed() where arrivals[end] == nil {
                    let isMapped = fits.contains { $0.fits(start, end) }
                    let inferred = isMapped ? nil : inferred(start, end)
                    guard isMapped || inferred != nil else { continue }
                    arrivals[end] = Arrival(start: start, inferred: inferred)
                    if end == last { return arrivals }
                    next.append(end)
                }
            }
            reached = next.sorted()
        }
        return nil
    }

    private func inferred(_ start: Int, _ end: Int) -> MigrationRoute.Step? {
        guard infers, !fits.contains(where: { $0.lies(between: start, and: end) }) else { return nil }
        let (old, new) = (versions[start], versions[end])
        if let refused, refused.new === new, refused.old.entities == old.entities { return nil }
        let step = MigrationRoute.Step(from: old, to: new)
        return step.isRefused ? nil : step
    }

    /// Checks that no mapping model leads to the last version from one that is not known.
    private func checkLeftOut(_ path: String) throws(StoreError) {
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
