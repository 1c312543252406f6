import FaultlineFindings
import FaultlineMigration
import FaultlineModel
import FaultlineProfile
import FaultlineRecorder
import FaultlineStore
import Foundation
import TestFolders
import Testing

@testable import FaultlineReplay
@testable import FaultlineRules

@Suite("A migration that was done object by object, tried on copies of the older store")
struct MigrationTrialTests {
    private let old: ManagedObjectModel
    private let new: ManagedObjectModel
    private let folder: URL

    init() throws {
        folder = try TestFolder.make()
        let title = AttributeDescription("title", .string)
        old = try ManagedObjectModel(entities: [EntityDescription("Note", attributes: [title])])
        new = try ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: [title, AttributeDescription("stars", .integer16)])
        ])
    }

    /// Creates a store of the older version with some notes.
    private func store(_ name: String, notes: Int) throws -> URL {
        let url = folder.appendingPathComponent(name)
        let container = try PersistentContainer(name: "Old", managedObjectModel: old, storeURL: url)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<notes {
                let note = context.insertNewObject(forEntityName: "Note")
                note.setValue("Note \(number)", forKey: "title")
            }
            try context.save()
        }
        try container.close()
        return url
    }

    /// The findings about a program that migrates a store with a manager.
    private func analysis(_ url: URL) throws -> Analysis {
        let recorder = Recorder.memory(ringBytes: 64 << 20)
        try MigrationManager(sourceModel: old, destinationModel: new, recorder: recorder).migrateStore(
            from: url, mapping: .inferredMappingModel(from: old, to: new),
            to: folder.appendingPathComponent("New.sqlite"))
        return Analysis(Profile(recorder.messages()), rules: [NeedlessMappingRule()])
    }

    @Test("is measured both ways, and the store stays as it is")
    func measured() throws {
        let url = try store("Notes.sqlite", notes: 4000)
        let analysis = try analysis(url)
        let before = try Data(contentsOf: url)
        #expect(analysis.hasAdviceOnMigrations)
        let trials = try StoreVerifier(path: url.path, models: [new], allowsNewerModels: true).verify(analysis).trials
        let trial = try #require(trials.first)
        let measured = try #require(trial.measurement, "\(trial)")
        #expect(trials.count == 1 && trial.finding.rule == "R32")
        #expect((measured.operations, measured.recordedOperations) == (1, 1))
        #expect(measured.rounds >= 6 && measured.time.before.median > 0 && measured.time.after.median > 0)
        // A migration is not counted.
        #expect(measured.before == measured.after && measured.before.rows == 0)
        #expect(trial.notes.contains("Each migration had a fresh copy of the store; the times are elapsed times."))
        #expect(try Data(contentsOf: url) == before)
    }

    @Test("cannot be tried on the migrated store, without the newer version, or on a store of another size")
    func refused() throws {
        let url = try store("Notes.sqlite", notes: 12_000)
        let analysis = try analysis(url)
        func reason(_ url: URL, _ models: [ManagedObjectModel]) throws -> String {
            let verifier = try StoreVerifier(path: url.path, models: models, allowsNewerModels: true)
            guard case .notTried(let reason)? = verifier.verify(analysis).trials.first?.outcome else { return "tried" }
            return reason
        }
        let advice =
            "A migration is tried on a store that has not been migrated: name a copy of the older store with --store, and the newer version of its model with --model."
        #expect(try reason(url, []) == advice)
        #expect(try reason(folder.appendingPathComponent("New.sqlite"), [new]) == advice)
        let other = try reason(store("Small.sqlite", notes: 3), [new])
        #expect(
            other.hasPrefix("The store has ") && other.hasSuffix(" was recorded: this is not the same work."),
            "\(other)")
    }

    @Test("needs the model of the store if nothing is about a migration")
    func otherModel() throws {
        let url = try store("Notes.sqlite", notes: 3)
        #expect(throws: ReplayError.self) { try StoreVerifier(path: url.path, models: [new]) }
    }
}
