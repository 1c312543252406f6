import FaultlineMigration
import FaultlineStore
import Foundation
import SharedData
import Testing

@testable import FaultlineModel

@Suite(
    "The copy of a model that Core Data keeps in its stores",
    .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct CoreDataModelCopyTests {
    private func content(_ fixture: CoreDataFixture) throws -> Data {
        let rows = try SQLShell.cells("SELECT Z_CONTENT FROM Z_MODELCACHE", fixture.copy())
        let found: Data? = if case .blob(let data)? = rows.first?["Z_CONTENT"] { data } else { nil }
        return try #require(found)
    }

    private func copy(_ fixture: CoreDataFixture) throws -> ManagedObjectModel {
        try ManagedObjectModel.cached(content(fixture), in: fixture.store)
    }

    /// The model without the file that it was loaded from, whose other versions would be found.
    private func detached(_ fixture: CoreDataFixture) throws -> ManagedObjectModel {
        try ManagedObjectModel(contents: fixture.loadModel().contents(), name: "model")
    }

    @Test("is the version of the model that the store was written with", arguments: CoreDataFixture.all)
    func equal(fixture: CoreDataFixture) throws {
        let (copy, model) = (try copy(fixture), try fixture.loadModel())
        #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(model.isSameVersion(asCached: copy))
        // Apart from what stores do not depend on, nothing else differs.
        let unread: Set<ModelDifference.Setting> = [.validation, .userInfo, .className, .transformer]
        let differences = model.differences(from: copy).filter {
            // The store of the books lacks an index that its model has had since.
            if $0.element == .index, fixture.store == CoreDataFixture.books.store { return false }
            return if case .changed(let setting, _, _) = $0.change { !unread.contains(setting) } else { true }
        }
        #expect(differences.map(\.description) == [])
        for entity in model.entities {
            let found = try #require(copy.entity(named: entity.name))
            #expect(found.compoundIndexes == entity.compoundIndexes)
            #expect(
                found.attributes.map(\.preservesValueInHistoryOnDeletion).filter { $0 }.count
                    == entity.attributes.filter(\.preservesValueInHistoryOnDeletion).count)
        }
    }

    @Test("has the names of versions and of configurations")
    func names() throws {
        #expect(try copy(.sample1).versionIdentifiers == ["1"])
        let books = try copy(.books)
        let entities = ["Author", "Book", "Feedback", "GraphicNovel", "Page", "Writer"]
        #expect(books.configurations.map(\.name) == ["SampleConfigurationV1"])
        #expect(books.configurations.first?.entities == entities)
    }

    @Test("is not another version")
    func unequal() throws {
        #expect(try !CoreDataFixture.sample2.loadModel().isSameVersion(asCached: copy(.sample1)))
        #expect(try !CoreDataFixture.sample1.loadModel().isSameVersion(asCached: copy(.sample2)))
        #expect(try !CoreDataFixture.bookmarks2.loadModel().isSameVersion(asCached: copy(.bookmarks3)))
    }

    @Test("is enough to migrate a store whose version the program no longer has")
    func withoutSourceModel() throws {
        let store = MigratedStore(url: try CoreDataFixture.sample1.copy())
        let expected = try CoreDataFixture.sample2.copy()
        try store.migrate(to: detached(.sample2))
        let query = "SELECT Z_PK, Z_ENT, ZMAKER, ZNUMBERPLATE, ZOWNER FROM ZCAR ORDER BY 1"
        #expect(try store.rows(query) == SQLShell.run(query, expected))
        // It would be that of the older version now.
        #expect(try store.rows("SELECT count(*) FROM Z_MODELCACHE") == ["0"])
    }

    @Test("counts more than a version that was edited after the store was written")
    func editedVersion() throws {
        // The last name became required when stores of the version existed: no table shows it.
        var entities = try CoreDataFixture.sample1.loadModel().entities
        let person = try #require(entities.firstIndex { $0.name == "Person" })
        let name = try #require(entities[person].attributes.firstIndex { $0.name == "lastName" })
        entities[person].attributes[name].isOptional = false
        entities[person].attributes[name].defaultValue = "unknown"
        let edited = try ManagedObjectModel(entities: entities)
        entities[person].attributes.append(AttributeDescription("nickname", .string))
        let newest = try ManagedObjectModel(entities: entities)
        let store = MigratedStore(url: try CoreDataFixture.sample1.copy())
        try store.rows("UPDATE ZPERSON SET ZLASTNAME = NULL WHERE Z_PK = 3")
        try store.migrate(to: newest) { $0.sourceModels = [edited] }
        // Between the edited version and the newest one, the attribute does not change.
        #expect(try store.rows("SELECT ZLASTNAME FROM ZPERSON WHERE Z_PK = 3") == ["unknown"])
    }

    @Test("is ignored if it is damaged, and the tables decide")
    func damaged() throws {
        let store = MigratedStore(url: try CoreDataFixture.sample1.copy())
        try store.rows("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00112233445566'")
        let newest = try detached(.sample2)
        #expect {
            try store.migrate(to: newest)
        } throws: { "\($0)".contains("another model") }
        try store.migrate(to: newest) {
            $0.sourceModels = (try? [CoreDataFixture.sample2, .sample1].map { try $0.loadModel() }) ?? []
        }
        #expect(try store.rows("SELECT count(*) FROM ZCAR") == ["125"])
    }

    @Test("says why it cannot be read")
    func unreadable() throws {
        for (bytes, reason) in [
            ([], "is not compressed, is cut off, or has more than 8 MiB"),
            ([7, 7, 7, 7], "is not compressed, is cut off, or has more than 8 MiB"),
            // The compressed text "no list", and then the same cut off.
            ([0xCB, 0xCB, 0x57, 0xC8, 0xC9, 0x2C, 0x2E, 0x01, 0x00], "is not a binary property list"),
            ([0xCB, 0xCB, 0x57], "is not compressed, is cut off, or has more than 8 MiB"),
        ] as [([UInt8], String)] {
            #expect {
                try ManagedObjectModel.cached(Data(bytes), in: "Store.sqlite")
            } throws: {
                "\($0)" == "Cannot read the copy of the model in 'Store.sqlite': it \(reason)."
            }
        }
    }

    @Test("is refused if it refers to its objects again and again")
    func expansion() throws {
        let archive = try #require(ManagedObjectModel.inflate(content(.sample1)))
        let list = try KeyedArchive(archive, limit: PropertyListValue.Limit.model)
        // 2,000 lists of 2,000 names are 4 million references.
        let names = PropertyListValue.dictionary([
            "NS.objects": .array(Array(repeating: .string("x"), count: 2000))
        ])
        #expect {
            for _ in 0..<2000 { _ = try list.list(names) }
        } throws: { ($0 as? ArchiveFailure)?.text == "refers to its objects too often" }
    }

    @Test("is looked for in a table alone, and not if the table is another one")
    func otherTables() throws {
        for change in [
            "CREATE VIEW Z_MODELCACHE AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT zeroblob(9) AS Z_CONTENT FROM n",
            "CREATE TABLE Z_MODELCACHE (Z_OTHER BLOB)",
        ] {
            let store = MigratedStore(url: try CoreDataFixture.sample1.copy())
            try store.rows("DROP TABLE Z_MODELCACHE; \(change)")
            let newest = try detached(.sample2)
            #expect {
                try store.migrate(to: newest)
            } throws: { "\($0)".contains("another model") }
        }
    }

    @Test("never ends the program, whatever it contains", arguments: CoreDataFixture.all)
    func mutated(fixture: CoreDataFixture) throws {
        let archive = try #require(ManagedObjectModel.inflate(content(fixture)))
        var numbers = RandomNumbers(seed: 7)
        var failures = 0
        for _ in 0..<300 {
            var bytes = Array(archive)
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                bytes[Int.random(in: bytes.indices, using: &numbers)] = .random(in: 0...255, using: &numbers)
            }
            if Bool.random(using: &numbers) { bytes.removeLast(Int.random(in: 1..<40, using: &numbers)) }
            do { _ = try ModelArchive.contents(Data(bytes)) } catch { failures += 1 }
        }
        #expect(failures > 150)
    }
}
