import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Synchronization
import Testing

@Suite("A program follows the migration of its store, and can cancel it")
struct MigrationProgressTests {
    private struct Enough: Error, CustomStringConvertible {
        var description: String { "enough" }
    }

    /// The progress that an observer received: lines such as `Note 1/2`, and the completed fractions.
    private final class Report: Sendable {
        private let lines = Mutex<[String]>([])
        private let fractions = Mutex<[Double]>([])

        /// Returns an observer that cancels the migration when it has been called `end` times.
        func observer(until end: Int = .max) -> @Sendable (MigrationProgress) throws -> Void {
            { progress in
                let line = "\(progress.entity) \(progress.step)/\(progress.stepCount)"
                self.fractions.withLock { $0.append(progress.fractionCompleted) }
                let count = self.lines.withLock { lines in
                    lines.append(line)
                    return lines.count
                }
                if count >= end { throw Enough() }
            }
        }

        var distinct: [String] {
            lines.withLock { $0.reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
        }

        var count: Int { lines.withLock { $0.count } }

        /// Whether the fractions never decrease, and end with 1.
        var isComplete: Bool {
            fractions.withLock { all in
                all.allSatisfy { (0...1).contains($0) } && all == all.sorted() && all.last == 1
            }
        }
    }

    private let versions: [ManagedObjectModel]
    private let store: MigratedStore

    init() throws {
        let tag = EntityDescription("Tag", attributes: [AttributeDescription("name", .string)])
        versions = try [[], ["a"], ["a", "b"]].map { names in
            let attributes = names.map { AttributeDescription($0, .integer16, isOptional: false, defaultValue: 1) }
            // The color goes, so the table of tags is made anew.
            let color = names.isEmpty ? [AttributeDescription("color", .string)] : []
            return try ManagedObjectModel(entities: [
                EntityDescription("Note", attributes: [AttributeDescription("text", .string)] + attributes),
                EntityDescription("Tag", attributes: tag.attributes + color),
            ])
        }
        store = try MigratedStore(
            versions[0].entities,
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT i, 1, 1, 'n' || i FROM n;
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCOLOR) VALUES (1, 2, 1, 'x', 'red');
            """)
    }

    private func mapping(_ old: Int, _ new: Int) throws -> MappingModel {
        var mapping = try MappingModel.inferredMappingModel(from: versions[old], to: versions[new])
        for index in mapping.entityMappings.indices {
            mapping.entityMappings[index].mappingType = .custom
            mapping.entityMappings[index].entityMigrationPolicyClassName = "CopyingPolicy"
        }
        return mapping
    }

    private func plan() -> StagedMigrationManager {
        StagedMigrationManager(versions.map { LightweightMigrationStage([$0.versionChecksum]) })
    }

    /// Opens the store with the last version, along one of the ways.
    private func migrate(_ way: String, _ observer: @escaping @Sendable (MigrationProgress) throws -> Void) throws {
        let mapped =
            way == "objects" ? [try mapping(0, 2)] : way == "chain" ? [try mapping(0, 1), try mapping(1, 2)] : []
        try store.migrate(to: versions[2]) {
            $0.sourceModels = versions
            $0.mappingModels = mapped
            $0.migrationPolicies = [CopyingPolicy.self]
            if way == "stages" { $0.stagedMigrationManager = plan() }
            $0.migrationObserver = observer
        }.close()
    }

    @Test(
        "The observer receives each entity, and a fraction that grows to 1",
        arguments: [
            ("sql", ["Note 1/1", "Tag 1/1"]), ("objects", ["Note 1/1", "Tag 1/1"]),
            ("stages", ["Note 1/2", "Note 2/2"]), ("chain", ["Note 1/2", "Tag 1/2", "Note 2/2", "Tag 2/2"]),
        ])
    func progress(way: String, expected: [String]) throws {
        let report = Report()
        try migrate(way, report.observer())
        // In a migration in SQL, statements about no table come before and after.
        let lines = report.distinct
        #expect(expected.allSatisfy { lines.contains($0) }, "\(lines)")
        #expect(report.isComplete)
        // 2,500 objects are three batches.
        #expect(way != "objects" || report.count >= 4)
        #expect(try store.rows("SELECT COUNT(*), SUM(ZA), SUM(ZB) FROM ZNOTE") == ["2500|2500|2500"])
    }

    @Test("An observer that throws leaves the store as it was", arguments: ["sql", "objects", "chain"], [1, 2, 3])
    func cancellation(way: String, after count: Int) throws {
        let before = try store.dump()
        let report = Report()
        #expect {
            try migrate(way, report.observer(until: count))
        } throws: { error in
            let error = error as? StoreError
            return error?.code == .migrationCanceled && error?.cause is Enough
                && error?.message
                    == "Migrating '\(store.url.path)' was cancelled by its observer (enough); open the store again to migrate it."
        }
        #expect(report.count == count)
        #expect(try store.dump() == before)
        let folder = store.url.deletingLastPathComponent().path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["Store.sqlite"])
        try migrate(way, Report().observer())
        #expect(try store.rows("SELECT COUNT(*) FROM ZNOTE WHERE ZB = 1") == ["2500"])
    }

    @Test("A plan keeps the stages that were completed before it is cancelled")
    func stages() throws {
        let report = Report()
        let first = Mutex(false)
        #expect(throws: StoreError.self) {
            try migrate("stages") { progress in
                try report.observer()(progress)
                if progress.step == 2 {
                    first.withLock { $0 = true }
                    throw Enough()
                }
            }
        }
        #expect(first.withLock { $0 })
        let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)
        #expect(versions[1].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        try migrate("stages", report.observer())
        #expect(try store.rows("SELECT COUNT(*) FROM ZNOTE WHERE ZB = 1") == ["2500"])
    }
}
