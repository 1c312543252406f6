package import FaultlineFindings
package import FaultlineModel
internal import FaultlineProfile
import FaultlineRecorder
package import FaultlineRules
import FaultlineStore

/// Tries the advice of a trace on copies of a store, and measures the savings.
///
/// The store itself is only read to be copied, and never opened.
package struct StoreVerifier {
    /// The store's name as given, and its resolved path.
    private let name: String
    private let path: String
    private let stored: StoredModel
    /// The version to which migrations lead.
    private let newest: ManagedObjectModel?
    /// The copy that only saves change.
    private let base: StoreCopy

    /// Copies a store.
    ///
    /// - Parameters:
    ///   - path: A store of Faultline or Core Data.
    ///   - models: Versions of the store's model, the program's first. The first that fits is used; if there are none, the
    ///     model that the store keeps.
    ///   - allowsNewerModels: Whether the store may be of a version that is not one of the models, because findings about
    ///     migrations lead from it to the first one.
    /// - Throws: ``ReplayError`` if the store cannot be read or copied, if its model is unknown, or if none of the
    ///   models is the store's. In the last case, the error has the differences from the first.
    package init(
        path: String, models: [ManagedObjectModel] = [], allowsNewerModels: Bool = false
    ) throws(ReplayError) {
        name = path
        self.path = try StorePath.resolved(path)
        base = try StoreCopy(of: self.path, named: path)
        let kept = try base.keptModel()
        if models.isEmpty {
            guard let kept else { throw ReplayError.noModel(path) }
            try base.check(kept)
            stored = kept
        } else {
            // The tables of a store of Core Data can fit several versions; its copy of the model tells them apart.
            let copied = kept.flatMap { $0.model.isCoreDataCopy ? $0.model : nil }
            let first = copied.map { copy in models.filter { $0.isSameVersion(asCached: copy) } } ?? []
            let versions = (first + models).map { StoredModel(model: $0, configuration: kept?.configuration) }
            do throws(ReplayError) {
                stored = try StoredModel.first(of: versions) { [base] (model) throws(ReplayError) in
                    try base.check(model)
                }
            } catch {
                guard allowsNewerModels, let kept else { throw error }
                try base.check(kept)
                stored = kept
            }
        }
        newest = models.first
    }

    /// Tries every finding that can be tried.
    ///
    /// - Parameter progress: Called before each finding is tried, with the finding and the number of finished ones.
    package func verify(_ analysis: Analysis, progress: (Finding, Int) -> Void = { _, _ in }) -> Verification {
        Verification(store: name, of: analysis, progress: progress) { trial(of: $0, analysis) }
    }

    private func trial(of finding: Finding, _ analysis: Analysis) -> Trial {
        guard let remedy = finding.remedy else {
            return Trial(finding, notTried: Self.reason(finding))
        }
        do {
            let (measurement, notes) = try measure(remedy, finding, analysis.profile)
            return Trial(finding, measurement, recorded: analysis.recordedTime(of: finding), notes: notes)
        } catch {
            return Trial(finding, notTried: Untriable(error, copyOf: name).reason)
        }
    }

    private static func reason(_ finding: Finding) -> String {
        if finding.ownSaving.median > 0 || finding.saving.pause != nil {
            return "Only the program's author can make its change."
        }
        return finding.saving.memory > 0
            ? "It predicts a saving of memory, and only times, trips and rows are measured."
            : "It predicts no saving of time, and only the program's author can make its change."
    }

    // MARK: - Comparisons

    private func measure(
        _ remedy: Remedy, _ finding: Finding, _ profile: Profile
    ) throws -> (TrialMeasurement, notes: [String]) {
        if case .inferMigrations(let count, let storeBytes) = remedy {
            return try MigrationTrial(path, stored, to: newest, recorded: count, size: storeBytes).measure()
        }
        let pair = try pair(for: remedy, finding, profile)
        let (measurement, notes) = try pair.measure(stored)
        return (measurement, pair.notes + notes)
    }

    private func pair(for remedy: Remedy, _ finding: Finding, _ profile: Profile) throws -> TrialPair {
        switch remedy {
        case .change(let fetch, let change):
            var replays = try self.replays([fetch], profile)
            if change.properties != nil || change.readsIdentitiesOnly {
                // Rows that are loaded in part may load the rest when they are read.
                for position in replays.indices { replays[position].readingIsInStore = true }
            }
            var pair = pair(replays, before: .recorded(nil), after: .changed(change))
            if !(change.prefetch + change.withoutPrefetch).isEmpty {
                pair.relatedTrips = profile.relatedTrips(of: fetch)
            }
            return pair
        case .answer(let fetch, let answer):
            return pair(try replays([fetch], profile), before: .recorded(answer), after: .answered(answer))
        case .reorder(let fetch, let order):
            let replays = try replays([fetch], profile)
            return pair(
                replays, before: .recorded(nil), after: .recorded(nil),
                others: try replays.map { try $0.reordered(order) })
        case .joinFetches(let fetch, let term):
            let replays = try replays([fetch], profile, loop: profile.runs(ofLoop: fetch, term: term))
            return pair(
                replays, before: .recorded(nil), after: .recorded(nil), others: try replays.map { try $0.joined() })
        case .index(let index, let fetches):
            let copy = try StoreCopy(of: path, named: name)
            try copy.change(StoreAlteration.index(index, stored.model))
            return pair(try replays(fetches, profile), before: .recorded(nil), after: .recorded(nil), on: copy)
        case .analyze(let fetches):
            let copy = try StoreCopy(of: path, named: name)
            try copy.analyze(stored)
            return pair(try replays(fetches, profile), before: .recorded(nil), after: .recorded(nil), on: copy)
        case .moveOut(let entity, let properties, let fetches):
            let (old, copy) = (try StoreCopy(of: path, named: name), try StoreCopy(of: path, named: name))
            // Both copies are vacuumed, so only the values make a difference.
            try old.change(StoreAlteration.packing)
            try copy.change(StoreAlteration.emptying(properties, of: entity, stored.model) + StoreAlteration.packing)
            var pair = pair(try replays(fetches, profile), before: .recorded(nil), after: .recorded(nil), on: copy)
            pair.before.copy = old
            pair.notes.append("The second time was measured on a copy without these values.")
            return pair
        case .statement:
            throw Untriable("It is about a statement that the program ran without the store.")
        case .inferMigrations:
            throw Untriable("It is about a migration, which changes the whole store.")
        case .joinSaves(let entities, let saves, let objects):
            let recorded = finding.evidence.first { $0.name == "saves" }?.value ?? Double(saves)
            let replay = try SaveReplay(
                entities, saves: saves, objects: objects, recorded: UInt64(min(1e15, max(0, recorded))),
                try base.open(stored))
            return TrialPair(
                before: TrialPair.Side(copy: base, run: { try replay.run(isJoined: false, $0, &$1) }),
                after: TrialPair.Side(copy: base, run: { try replay.run(isJoined: true, $0, &$1) }),
                operations: replay.count, recorded: replay.recorded, notes: [replay.note], clock: .wall)
        }
    }

    private func replays(
        _ fetches: [FetchProfile.Key], _ profile: Profile, loop: RunSums? = nil
    ) throws -> [FetchReplay] {
        let recorder = Recorder.memory()
        let container = try base.open(stored, recorder)
        return try fetches.compactMap { profile.fetch($0) }.map {
            try FetchReplay($0, loop: loop, container, recorder)
        }
    }

    private func pair(
        _ replays: [FetchReplay], before: FetchReplay.Manner, after: FetchReplay.Manner,
        others: [FetchReplay]? = nil, on copy: StoreCopy? = nil
    ) -> TrialPair {
        func side(_ replays: [FetchReplay], _ manner: FetchReplay.Manner, _ copy: StoreCopy) -> TrialPair.Side {
            TrialPair.Side(
                copy: copy, warmUp: { container in for replay in replays { try replay.warmUp(manner, container) } },
                run: { container, timing in for replay in replays { try replay.run(manner, container, &timing) } })
        }
        var pair = TrialPair(
            before: side(replays, before, base), after: side(others ?? replays, after, copy ?? base),
            operations: replays.reduce(0) { $0 &+ $1.count }, recorded: replays.reduce(0) { $0 &+ $1.recorded })
        pair.drawsValues = replays.contains(where: \.drawsValues)
        pair.rows = replays.reduce(0) { $0 &+ $1.rows }
        let misses = replays.compactMap { replay in replay.pageMisses.map { $0 * Double(replay.recorded) } }
        if misses.count == replays.count { pair.pageMisses = misses.reduce(0, +) / Double(max(1, pair.recorded)) }
        return pair
    }
}

extension Profile {
    /// The number of trips for related objects of some fetches: prefetching and faults.
    fileprivate func relatedTrips(of key: FetchProfile.Key) -> UInt64 {
        let prefetching = fetch(key)?.prefetches.values.reduce(0) { $0 &+ $1.trips } ?? 0
        return faults.reduce(prefetching) { $1.key.fetch == key ? $0 &+ $1.evidence.trips : $0 }
    }
}
