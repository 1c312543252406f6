import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Synchronization
import Testing

@Suite("A staged migration goes through every version of its plan")
struct StagedMigrationTests {
    /// Version 1 has a name, version 2 also first and last names, version 3 no name, and version 4 a required nickname.
    private let v: [ManagedObjectModel]
    private let store: MigratedStore

    init() throws {
        let name = AttributeDescription("name", .string)
        let parts = [AttributeDescription("first", .string), AttributeDescription("last", .string)]
        let versions = [
            [name], [name] + parts, parts,
            parts + [AttributeDescription("nick", .string, isOptional: false, defaultValue: "-")],
        ]
        v = try versions.map { try ManagedObjectModel(entities: [EntityDescription("Person", attributes: $0)]) }
        store = try MigratedStore(
            v[0].entities,
            "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ada Lovelace'), (2, 1, 1, 'Alan Turing')"
        )
    }

    private func custom(_ old: Int, _ new: Int) -> CustomMigrationStage {
        CustomMigrationStage(
            migratingFrom: ManagedObjectModelReference(v[old - 1]), to: ManagedObjectModelReference(v[new - 1]),
            label: "\(old) to \(new)")
    }

    private func light(_ versions: Int...) -> LightweightMigrationStage {
        LightweightMigrationStage(versions.map { v[$0 - 1].versionChecksum })
    }

    /// Splits each name into its two parts.
    private static let split: CustomMigrationStage.Handler = { manager, _ in
        let context = try #require(manager.container?.newBackgroundContext())
        try context.performAndWait {
            for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
                let parts = (person["name"] as? String ?? "").split(separator: " ").map(String.init)
                person["first"] = parts.first
                person["last"] = parts.last
            }
            try context.save()
        }
    }

    private func migrate(
        to version: Int, _ stages: [any MigrationStage], sources: [ManagedObjectModel]? = nil
    ) throws {
        try store.migrate(to: v[version - 1]) {
            $0.sourceModels = sources ?? v
            $0.stagedMigrationManager = StagedMigrationManager(stages)
        }.close()
    }

    @Test("Handlers work on the store between the versions", arguments: [0, 1, 2])
    func stages(form: Int) throws {
        var stage = custom(1, 2)
        stage.didMigrateHandler = Self.split
        let plans: [[any MigrationStage]] = [
            [stage, light(3, 4)], [stage, custom(2, 3), light(4)], [stage, light(3), custom(3, 4)],
        ]
        try migrate(to: 4, plans[form])
        #expect(
            try store.rows("SELECT Z_PK, ZFIRST, ZLAST, ZNICK FROM ZPERSON")
                == ["1|Ada|Lovelace|-", "2|Alan|Turing|-"])
        // A store of a version in the middle begins there.
        try migrate(to: 4, plans[form])
    }

    @Test("The handler before a step sees the older version")
    func before() throws {
        let seen = Mutex<[String]>([])
        var stage = custom(1, 2)
        stage.willMigrateHandler = { manager, stage in
            let model = try #require(manager.container?.managedObjectModel)
            seen.withLock { $0.append("\(stage.label ?? "") \(model.versionChecksum)") }
        }
        try migrate(to: 2, [stage])
        #expect(seen.withLock { $0 } == ["1 to 2 \(v[0].versionChecksum)"])
    }

    private struct Crash: Error, CustomStringConvertible {
        var description: String { "lost power" }
    }

    @Test("A handler that failed runs again at the next opening, and the step before it does not")
    func resumed() throws {
        let calls = Mutex<[String]>([])
        var stage = custom(1, 2)
        stage.willMigrateHandler = { _, _ in calls.withLock { $0.append("before") } }
        stage.didMigrateHandler = { manager, stage in
            let isFirst = calls.withLock { calls in
                calls.append("after")
                return calls.filter { $0 == "after" }.count == 1
            }
            if isFirst { throw Crash() }
            try Self.split(manager, stage)
        }
        #expect(
            performing { try migrate(to: 3, [stage, light(3)]) }
                == "Migrating '\(store.url.path)' stopped because the handler after the stage '1 to 2' failed: lost power"
        )
        #expect(try store.rows("SELECT ZNAME, ZFIRST FROM ZPERSON") == ["Ada Lovelace|NULL", "Alan Turing|NULL"])
        try migrate(to: 3, [stage, light(3)])
        #expect(try store.rows("SELECT ZFIRST, ZLAST FROM ZPERSON") == ["Ada|Lovelace", "Alan|Turing"])
        #expect(calls.withLock { $0 } == ["before", "after", "after"])
        // The target itself can have work left to do.
        try migrate(to: 3, [stage, light(3)])
        #expect(calls.withLock { $0.count } == 3)
    }

    @Test("Work that was left at the newest version is done at the next opening")
    func lastStage() throws {
        let calls = Mutex(0)
        var stage = custom(1, 2)
        stage.didMigrateHandler = { _, _ in
            if calls.withLock({
                $0 += 1; return $0
            }) == 1 {
                throw Crash()
            }
        }
        #expect(performing { try migrate(to: 2, [stage]) }.hasSuffix("lost power"))
        try migrate(to: 2, [stage])
        try migrate(to: 2, [stage])
        #expect(calls.withLock { $0 } == 2)
    }

    @Test("A plan that is wrong is refused before the store changes")
    func refusals() throws {
        let before = try store.dump()
        let path = store.url.path
        let checksums = v.map(\.versionChecksum)
        let edited = CustomMigrationStage(
            migratingFrom: ManagedObjectModelReference(v[0], versionChecksum: "other"),
            to: ManagedObjectModelReference(v[1]))
        for (target, stages, reason) in [
            (
                3, [light(1, 2), light(2, 3)],
                "because the version with the checksum \(checksums[1]) occurs in two stages of the plan; name each version once."
            ),
            (
                3, [light(1, 2)],
                "because the plan does not have the version that the store is opened with; add it as the last one."
            ),
            (
                3, [light(2, 3)],
                "because the plan does not have the store's version, whose checksum is \(checksums[0]); add it."
            ),
            (
                2, [light(2, 1)],
                "because the store was written by a newer version than it is opened with, and the plan leads to newer versions only; open it with the newer version."
            ),
            (
                2, [edited],
                "because a model of the plan has the checksum \(checksums[0]) instead of other; it was edited after it was released, so restore it."
            ),
        ] as [(Int, [any MigrationStage], String)] {
            #expect(performing { try migrate(to: target, stages) } == "Migrating '\(path)' is refused \(reason)")
        }
        #expect(
            performing { try migrate(to: 3, [light(1, 2, 3)], sources: []) }
                == "Migrating '\(path)' is refused because the plan names a version with the checksum \(checksums[0]), which no known model has; add the model to sourceModels."
        )
        #expect(try store.dump() == before)
    }
}
