import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("The mapping models of real projects run", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct MappedChainTests {
    /// Finds or creates the maker that a car names.
    final class V2to3MakerPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            guard let name = source["maker"] as? String else { return }
            let car = try #require(
                manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]).first)
            var makers = manager.userInfo["makers"] as? [String: ManagedObject] ?? [:]
            let maker = makers[name] ?? manager.destinationContext.insertNewObject(forEntityName: "Maker")
            maker["name"] = name
            makers[name] = maker
            manager.userInfo["makers"] = makers
            car["createdBy"] = maker
        }
    }

    @Test("CoreDataPlus' cars get makers, also in batches of a few objects", arguments: [1000, 7])
    func cars(batchSize: Int) throws {
        let folder = try SharedData.url("core-data-stores/coredataplus/SampleModel")
        let versions = try ModelVersions(contentsOf: folder.appendingPathComponent("SampleModel.xcdatamodeld"))
        let (old, new) = (try versions.model("SampleModel2"), try versions.model("SampleModel3"))
        let mapping = try MappingModel(
            contentsOf: folder.appendingPathComponent("MappingModels/V2toV3.xcmappingmodel"), from: old, to: new)
        let source = try CoreDataFixture.sample2.copy()
        let target = try TestStore.makeFolder().appendingPathComponent("V3.sqlite")
        let before = try Data(contentsOf: source)
        let manager = MigrationManager(sourceModel: old, destinationModel: new)
        manager.policies = [V2to3MakerPolicy.self]
        manager.batchSize = batchSize
        try manager.migrateStore(from: source, mapping: mapping, to: target)
        #expect(manager.migrationProgress == 1)
        #expect(try Data(contentsOf: source) == before)

        let store = MigratedStore(url: target)
        try store.migrate(to: new)
        #expect(try store.rows("SELECT COUNT(*) FROM ZCAR") == ["125"])
        #expect(try store.rows("SELECT COUNT(*) FROM ZMAKER") == ["10"])
        #expect(
            try store.rows("SELECT COUNT(*) FROM ZCAR c JOIN Z_PRIMARYKEY p USING (Z_ENT) WHERE Z_NAME = 'LuxuryCar'")
                == ["5"])
        func both(_ query: String, _ other: String? = nil) throws {
            let (found, expected) = (try store.rows(query), try SQLShell.run(other ?? query, source))
            #expect(found == expected && !found.isEmpty, "\(query)")
        }
        try both(
            "SELECT Z_PK, ZOWNER, ZMODEL, ZNUMBERPLATE, ZMARKEDFORDELETIONASOF, ZISLIMITEDEDITION FROM ZCAR ORDER BY 1")
        try both("SELECT Z_PK, ZFIRSTNAME, ZLASTNAME, ZUPDATEDAT FROM ZPERSON ORDER BY 1")
        try both("SELECT Z_UUID FROM Z_METADATA")
        try both(
            "SELECT c.Z_PK, m.ZNAME FROM ZCAR c LEFT JOIN ZMAKER m ON m.Z_PK = c.ZCREATEDBY ORDER BY 1",
            "SELECT Z_PK, ZMAKER FROM ZCAR ORDER BY 1")
        // The mapping fills the previous cars of a person from the cars.
        let join = try #require(new.schema.entity(named: "Person")?.property("previousCars")?.joinTable)
        try both(
            "SELECT \(join.sourceColumn), \(join.destinationColumn) FROM \(join.table) ORDER BY 1, 2",
            "SELECT ZOWNER, Z_PK FROM ZCAR WHERE ZOWNER NOT NULL ORDER BY 1, 2")
    }

    @Test("A mapping model that fits is used when the store is opened, and the store replaced as a whole")
    func automatic() throws {
        let folder = try SharedData.url("core-data-stores/coredataplus/SampleModel")
        let versions = try ModelVersions(contentsOf: folder.appendingPathComponent("SampleModel.xcdatamodeld"))
        let (old, new) = (try versions.model("SampleModel2"), try versions.model("SampleModel3"))
        let mapping = try MappingModel(
            contentsOf: folder.appendingPathComponent("MappingModels/V2toV3.xcmappingmodel"), from: old, to: new)
        let url = try CoreDataFixture.sample2.copy()
        // A migration that was killed left this behind.
        let leftover = url.deletingLastPathComponent().appendingPathComponent(
            ".Store.sqlite.migration-\(UUID().uuidString)")
        try Data("x".utf8).write(to: leftover)
        let store = MigratedStore(url: url)
        let before = try store.dump()
        #expect(
            performing { try store.migrate(to: new) { $0.mappingModels = [mapping] } }
                == "The mapping 'CarToCar' needs the policy 'REPLACE_AT_RUNTIME.V2to3MakerPolicy', which the migration manager does not have; add the class to its policies."
        )
        #expect(try store.dump() == before)
        #expect(
            performing { try store.migrate(to: new) { $0.mappingModels = [mapping, mapping] } }
                == "Migrating '\(url.path)' is refused because 2 of its mappingModels fit the two versions; leave one of them out."
        )
        let container = try store.migrate(to: new) {
            $0.mappingModels = [mapping]
            $0.migrationPolicies = [V2to3MakerPolicy.self]
        }
        #expect(try store.rows("SELECT COUNT(*) FROM ZMAKER") == ["10"])
        try container.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
                == ["Store.sqlite"])
    }

    /// Finds or creates the continent whose number a country has.
    final class Country5ToCountry6Policy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            guard let number = source["isoContinent"] as? Int64, number != 0 else { return }
            let country = try #require(
                manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]).first)
            let context = manager.destinationContext
            let known = context.registeredObjects.first {
                $0.entityName == "Continent" && $0["numericISO3166Code"] as? Int64 == number
            }
            let continent = known ?? context.insertNewObject(forEntityName: "Continent")
            continent["numericISO3166Code"] = number
            country["continent"] = continent
        }
    }

    @Test("objc.io's four mapping models run one after another, and keep every mood, country and continent")
    func moody() throws {
        let folder = try SharedData.url("core-data-models/objcio/Migrations/Migrations")
        let versions = try ModelVersions(contentsOf: folder.appendingPathComponent("Moody.xcdatamodeld"))
        let first = try versions.model("Moody 2")
        func number(_ name: String) throws -> Int64 { try #require(first.schema.entity(named: name)).number }
        var store = try MigratedStore(
            first.entities,
            """
            INSERT INTO ZGEOGRAPHICREGION
            (Z_PK, Z_ENT, Z_OPT, ZCONTINENT, ZUPDATEDAT, ZNUMERICISO3166CODE, ZUNIQUENESSDUMMY, ZNUMBEROFMOODS, ZNUMBEROFCOUNTRIES) VALUES
            (1, \(try number("Continent")), 1, NULL, 5.5, 150, 1, 2, 2), (2, \(try number("Country")), 1, 1, 6.5, 276, 2, 2, NULL),
            (3, \(try number("Country")), 1, 1, 7.5, 250, 3, 0, NULL);
            INSERT INTO ZMOOD (Z_PK, Z_ENT, Z_OPT, ZCOUNTRY, ZREMOTEID, ZRATING, ZDATE, ZMARKEDFORREMOTEDELETION) VALUES
            (4, \(try number("Mood")), 1, 2, 'x', 3, 8.5, 0), (9, \(try number("Mood")), 1, 3, 'y', 4, 9.5, 1);
            """)
        var old = first
        for version in 3...6 {
            let new = try versions.model("Moody \(version)")
            let mapping = try MappingModel(
                contentsOf: folder.appendingPathComponent("Moody \(version - 1)-Moody \(version).xcmappingmodel"),
                from: old, to: new)
            let manager = MigrationManager(sourceModel: old, destinationModel: new)
            manager.policies = [Country5ToCountry6Policy.self]
            let next = try TestStore.makeFolder().appendingPathComponent("Moody\(version).sqlite")
            try manager.migrateStore(from: store.url, mapping: mapping, to: next)
            store = MigratedStore(url: next)
            try store.migrate(to: new)
            #expect(
                try store.rows("SELECT Z_PK, ZCOUNTRY, ZREMOTEID, ZRATING, ZDATE FROM ZMOOD ORDER BY 1")
                    == ["4|2|x|3|8.5", "9|3|y|4|9.5"])
            if version == 3 {
                #expect(try store.rows("SELECT Z_PK, ZCONTINENT FROM ZMOOD ORDER BY 1") == ["4|1", "9|1"])
            } else {
                #expect(
                    try store.rows("SELECT Z_PK, ZNUMERICISO3166CODE, ZUPDATEDAT FROM ZCOUNTRY ORDER BY 1") == [
                        "2|276|6.5", "3|250|7.5",
                    ])
            }
            if version == 5 { #expect(try store.rows("SELECT ZISOCONTINENT FROM ZCOUNTRY") == ["150", "150"]) }
            old = new
        }
        #expect(
            try store.rows("SELECT k.ZNUMERICISO3166CODE FROM ZCOUNTRY c JOIN ZCONTINENT k ON k.Z_PK = c.ZCONTINENT")
                == ["150", "150"])
        #expect(try store.rows("SELECT COUNT(*) FROM ZCONTINENT") == ["1"])
    }

    /// Gives creatures flippers for their flagella.
    final class Advanced_EvolutionDemo_V2_FromV1MigrationPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            for object in manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [source])
            {
                object["hasVertebrae"] = false
            }
        }
    }

    @Test("CoreStore's creatures evolve and go back")
    func creatures() throws {
        let folder = try SharedData.url("core-data-models/corestore/Demo/Sources/Demos/Advanced/EvolutionDemo")
        let versions = try ModelVersions(
            contentsOf: folder.appendingPathComponent("Advanced.EvolutionDemo.V1.xcdatamodeld"))
        let models = try versions.names.map { try versions.model($0) }
        let old = try #require(models.first { $0.schema.entities[0].property("numberOfFlagella") != nil })
        let new = try #require(models.first { $0.schema.entities[0].property("numberOfFlippers") != nil })
        let store = try MigratedStore(
            old.entities,
            "INSERT INTO ZCREATURE (Z_PK, Z_ENT, Z_OPT, ZNUMBEROFFLAGELLA, ZDNACODE) VALUES (1, 1, 1, 3, 77), (4, 1, 1, 6, 78)"
        )
        func migrate(_ url: URL, _ name: String, _ old: ManagedObjectModel, _ new: ManagedObjectModel) throws -> URL {
            let mapping = try MappingModel(
                contentsOf: folder.appendingPathComponent("Advanced.EvolutionDemo.\(name).xcmappingmodel"), from: old,
                to: new)
            let manager = MigrationManager(sourceModel: old, destinationModel: new)
            manager.policies = [Advanced_EvolutionDemo_V2_FromV1MigrationPolicy.self]
            let target = try TestStore.makeFolder().appendingPathComponent("Next.sqlite")
            try manager.migrateStore(from: url, mapping: mapping, to: target)
            return target
        }
        let evolved = try migrate(store.url, "V2.FromV1", old, new)
        #expect(
            try SQLShell.run(
                "SELECT Z_PK, ZDNACODE, ZNUMBEROFFLIPPERS, ZHASVERTEBRAE, ZHASHEAD FROM ZCREATURE", evolved)
                == ["1|77|3|0|1", "4|78|6|0|1"])
        let back = try migrate(evolved, "V1.FromV2", new, old)
        #expect(
            try SQLShell.run("SELECT Z_PK, ZDNACODE, ZNUMBEROFFLAGELLA FROM ZCREATURE", back) == ["1|77|3", "4|78|6"])
    }
}
