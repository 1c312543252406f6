import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite(
    "Stores that Apple's framework wrote are migrated as it does",
    .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct MigrationChainTests {
    private func model(_ fixture: CoreDataFixture, _ version: String) throws -> ManagedObjectModel {
        var fixture = fixture
        fixture.version = version
        return try fixture.loadModel()
    }

    @Test("CoreDataPlus' SampleModel becomes what Core Data made of it")
    func sample() throws {
        let store = MigratedStore(url: try CoreDataFixture.sample1.copy())
        let expected = try CoreDataFixture.sample2.copy()
        try store.migrate(to: model(.sample1, "SampleModel2"))
        let car = "Z_PK, Z_ENT, Z_OPT, ZOWNER, ZISLIMITEDEDITION, ZMARKEDFORDELETIONASOF, ZMAKER, ZMODEL, ZNUMBERPLATE"
        for query in [
            "SELECT \(car) FROM ZCAR ORDER BY 1", "SELECT Z_UUID FROM Z_METADATA",
            "SELECT Z_PK, Z_ENT, Z_OPT, ZUPDATEDAT, ZFIRSTNAME, ZLASTNAME FROM ZPERSON ORDER BY 1",
            "SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1",
        ] {
            let rows = try store.rows(query)
            #expect(rows == (try SQLShell.run(query, expected)), "\(query)")
            #expect(!rows.isEmpty)
        }
    }

    @Test("DuckDuckGo's bookmarks go through all versions, and to the last one at once", arguments: [true, false])
    func bookmarks(isStepwise: Bool) throws {
        let store = MigratedStore(url: try CoreDataFixture.bookmarks1.copy())
        // A root with a folder of three bookmarks, in an order that is not that of their keys; two of them are favorites.
        try store.rows(
            """
            INSERT INTO ZBOOKMARKENTITY (Z_PK, Z_ENT, Z_OPT, ZISFAVORITE, ZISFOLDER, ZPARENT, Z_FOK_PARENT, ZFAVORITEFOLDER, Z_FOK_FAVORITEFOLDER, ZTITLE) VALUES
            (1, 1, 1, 0, 1, NULL, NULL, NULL, NULL, 'root'), (2, 1, 1, 0, 1, 1, 2048, NULL, NULL, 'folder'),
            (3, 1, 1, 1, 0, 2, 6144, 1, 4096, 'a'), (4, 1, 1, 1, 0, 2, 2048, 1, 2048, 'b'), (5, 1, 1, 0, 0, 2, 4096, NULL, NULL, 'c')
            """.replacing("\n", with: " "))
        // Version 2 differs in its indexes alone, so the store fits it as it is.
        _ = try PersistentContainer(
            name: "Test", managedObjectModel: model(.bookmarks1, "BookmarksModel 2"), storeURL: store.url)
        let versions = (3...6).map { "BookmarksModel \($0)" }
        for version in isStepwise ? versions : [versions[3]] { try store.migrate(to: model(.bookmarks1, version)) }
        #expect(
            try store.rows(
                "SELECT Z_PK, ZTITLE, ZPARENT, Z_FOK_PARENT, ZISPENDINGDELETION FROM ZBOOKMARKENTITY ORDER BY 1")
                == [
                    "1|root|NULL|NULL|0", "2|folder|1|2048|0", "3|a|2|6144|0", "4|b|2|2048|0", "5|c|2|4096|0",
                ])
        // The only favorites folder of an older version becomes one of several.
        let newest = try model(.bookmarks1, versions[3])
        let bookmark = try #require(newest.schema.entity(named: "BookmarkEntity"))
        let folders = try #require(bookmark.property("favoriteFolders")?.joinTable)
        #expect(
            try store.rows(
                "SELECT \(folders.sourceColumn), \(folders.destinationColumn) FROM \(folders.table) ORDER BY 1")
                == ["3|1", "4|1"])
        let context = try PersistentContainer(name: "Test", managedObjectModel: newest, storeURL: store.url)
            .newBackgroundContext()
        try context.performAndWait {
            var request = FetchRequest<ManagedObject>(entityName: "BookmarkEntity")
            request.predicate = try FetchPredicate(format: "title == 'root'")
            let root = try #require(try context.fetch(request).first)
            let favorites = root[ToManyKey<ManagedObject>("favorites")]
            // The order was in the key's row, whose relationship had no order of its own in the join table's version.
            #expect(Set(favorites.map { $0["title"] as? String }) == ["a", "b"])
        }
    }

    @Test("CoreDataPlus' SampleModel3 gains pets and loses their names")
    func users() throws {
        let store = MigratedStore(url: try CoreDataFixture.users.copy())
        let before = try store.rows("SELECT Z_PK, ZNAME FROM ZUSER ORDER BY 1")
        try store.migrate(to: model(.users, "SampleModel3_v2"))
        try store.migrate(to: model(.users, "SampleModel3_v3"))
        #expect(try store.rows("SELECT Z_PK, ZNAME FROM ZUSER ORDER BY 1") == before)
        #expect(before.count == 12)
    }

    @Test("objc.io's Moody goes through all of its versions", arguments: [true, false])
    func moody(isStepwise: Bool) throws {
        let versions = try ModelVersions(
            contentsOf: SharedData.url("core-data-models/objcio/Migrations/Migrations/Moody.xcdatamodeld"))
        let old = try versions.model("Moody")
        let store = try MigratedStore(
            old.entities,
            """
            INSERT INTO ZGEOGRAPHICREGION (Z_PK, Z_ENT, Z_OPT, ZCONTINENT, ZNUMERICISO3166CODE) VALUES
            (1, \(try number("Continent", old)), 1, NULL, 150), (2, \(try number("Country", old)), 1, 1, 276);
            INSERT INTO ZMOOD (Z_PK, Z_ENT, Z_OPT, ZCOUNTRY, ZREMOTEIDENTIFIER)
            VALUES (1, \(try number("Mood", old)), 1, 2, 'x');
            """)
        let names = (2...6).map { "Moody \($0)" }
        for name in isStepwise ? names : [names[4]] { try store.migrate(to: versions.model(name)) }
        #expect(try store.rows("SELECT Z_PK, ZNUMERICISO3166CODE FROM ZCOUNTRY") == ["2|276"])
        #expect(try store.rows("SELECT Z_PK, ZCOUNTRY, ZREMOTEID, ZRATING FROM ZMOOD") == ["1|2|x|0"])
        // The step to version 5 removes continents, and version 6 has them again, but not the old ones.
        #expect(try store.rows("SELECT COUNT(*) FROM ZCONTINENT") == [isStepwise ? "0" : "1"])
    }

    private func number(_ entity: String, _ model: ManagedObjectModel) throws -> Int64 {
        try #require(model.schema.entity(named: entity)).number
    }

    @Test("CoreStore's creatures gain limbs and lose their flagella, as the models say")
    func creatures() throws {
        let versions = try ModelVersions(
            contentsOf: SharedData.url(
                "core-data-models/corestore/Demo/Sources/Demos/Advanced/EvolutionDemo/Advanced.EvolutionDemo.V1.xcdatamodeld"
            ))
        let models = try versions.names.map { try versions.model($0) }
        let old = try #require(models.first { $0.schema.entities[0].property("numberOfFlagella") != nil })
        let new = try #require(models.first { $0.schema.entities[0].property("numberOfFlippers") != nil })
        let store = try MigratedStore(
            old.entities,
            "INSERT INTO ZCREATURE (Z_PK, Z_ENT, Z_OPT, ZNUMBEROFFLAGELLA, ZDNACODE) VALUES (1, 1, 1, 3, 77)")
        try store.migrate(to: new)
        #expect(
            try store.rows("SELECT ZDNACODE, ZHASHEAD, ZHASTAIL, ZHASVERTEBRAE, ZNUMBEROFFLIPPERS FROM ZCREATURE")
                == ["77|1|1|1|2"])
    }
}
