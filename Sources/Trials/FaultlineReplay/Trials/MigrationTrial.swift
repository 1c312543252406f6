import FaultlineFindings
import FaultlineMigration
import FaultlineModel
import FaultlineRecorder
import FaultlineRules
import FaultlineStore
import Foundation

/// Migrates copies of a store alternately object by object and in SQL.
struct MigrationTrial {
    private let path: String
    private let old: ManagedObjectModel
    private let new: ManagedObjectModel
    private let mapping: MappingModel
    /// The number of migrations in the trace.
    private let recorded: UInt64

    private enum Way {
        case objects
        case inferred
    }

    /// - Parameters:
    ///   - path: The resolved path of a store that has not been migrated yet.
    ///   - new: The newer version of its model; `nil` if none was named.
    ///   - size: The size of the recorded store's file.
    /// - Throws: ``Untriable`` if the store's migration is not the recorded work.
    init(
        _ path: String, _ stored: StoredModel, to new: ManagedObjectModel?, recorded: UInt64, size: UInt64
    ) throws(Untriable) {
        (self.path, self.recorded) = (path, recorded)
        old = stored.model
        guard stored.configuration == nil else {
            throw Untriable("The store has the entities of a configuration, which mapping models cannot migrate.")
        }
        guard !old.isCoreDataCopy else {
            throw Untriable("Core Data's copy of the store's model is incomplete; name all versions with --model.")
        }
        guard let new, new.versionChecksum != old.versionChecksum else {
            throw Untriable(
                "A migration is tried on a store that has not been migrated: name a copy of the older store with --store, and "
                    + "the newer version of its model with --model.")
        }
        self.new = new
        do {
            mapping = try MappingModel.inferredMappingModel(from: old, to: new)
        } catch {
            throw Untriable(error.message)
        }
        let found = StorePath.size(of: path) + StorePath.size(of: path + "-wal")
        if TrialPair.isOtherWork(found, recorded: size) {
            throw Untriable(
                "The store has \(Phrase.size(Double(found))) here, but had \(Phrase.size(Double(size))) when its migration "
                    + "was recorded: this is not the same work.")
        }
    }

    /// Measures both ways alternately.
    func measure() throws -> (TrialMeasurement, notes: [String]) {
        // The events of a large migration do not fit into memory, and their number adds nothing to the time.
        let none = TrialMeasurement.Counts(trips: 0, rows: 0)
        let rounds = try TurnTaking.measure(before: { try run(.objects) }, after: { try run(.inferred) })
        let measurement = TrialMeasurement(
            operations: 1, recordedOperations: recorded, rounds: rounds.count,
            time: .init(rounds.map { ($0.before.total, $0.after.total) }),
            pause: .init(rounds.map { ($0.before.longest, $0.after.longest) }), before: none, after: none)
        return (measurement, ["Each migration had a fresh copy of the store; the times are elapsed times."])
    }

    /// Migrates a fresh copy.
    private func run(_ way: Way) throws -> Timing {
        let folder = try ScratchFolder()
        _ = try folder.copyStore(path)
        try folder.copySupport(of: path)
        var timing = Timing(.wall)
        try timing.step(weight: Double(recorded)) {
            switch way {
            case .objects:
                let target = URL(fileURLWithPath: folder.filePath(of: "migrated.sqlite"))
                try MigrationManager(sourceModel: old, destinationModel: new, recorder: .off()).migrateStore(
                    from: folder.storeURL, mapping: mapping, to: target)
            case .inferred:
                var description = PersistentStoreDescription(url: folder.storeURL)
                description.ignoresPersistentHistory = true
                description.allowsEarlierVersions = true
                description.sourceModels = [old]
                guard try PersistentStoreCoordinator.migrateStore(description, to: new, recorder: .off()) else {
                    throw Untriable("The version of the copy was not found.")
                }
            }
        }
        return timing
    }
}
