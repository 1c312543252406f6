import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A mapping model that only copies is migrated in SQL, with the objects that a migration manager makes")
struct MappedRulesTests {
    /// Owners with pets of two kinds, clinics, and friends.
    private static let old = [
        EntityDescription(
            "Owner",
            attributes: [
                AttributeDescription("name", .string), AttributeDescription("age", .integer16),
                AttributeDescription("photo", .binary, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                RelationshipDescription("pets", to: "Pet", inverse: "owner", isToMany: true, isOrdered: true),
                RelationshipDescription("friends", to: "Owner", inverse: "friends", isToMany: true),
                RelationshipDescription("favorite", to: "Pet", inverse: nil),
            ]),
        EntityDescription(
            "Pet", attributes: [AttributeDescription("name", .string), AttributeDescription("weight", .integer16)],
            relationships: [
                RelationshipDescription("owner", to: "Owner", inverse: "pets"),
                RelationshipDescription("clinics", to: "Clinic", inverse: "patients", isToMany: true, isOrdered: true),
            ]),
        EntityDescription("Dog", parent: "Pet", attributes: [AttributeDescription("toy", .string)]),
        EntityDescription(
            "Clinic", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("patients", to: "Pet", inverse: "clinics", isToMany: true)
            ]),
        EntityDescription("Note", attributes: [AttributeDescription("text", .string)]),
    ]

    private static let new = [
        EntityDescription(
            "Keeper",
            attributes: [
                AttributeDescription("fullName", .string, isOptional: false, defaultValue: "?"),
                AttributeDescription("sortName", .string), AttributeDescription("age", .double),
                AttributeDescription("picture", .binary),
                AttributeDescription("country", .string, defaultValue: "DE"),
                AttributeDescription("since", .date),
            ],
            relationships: [
                RelationshipDescription("animals", to: "Animal", inverse: "keeper", isToMany: true, isOrdered: true),
                RelationshipDescription("friends", to: "Keeper", inverse: "friends", isToMany: true),
                RelationshipDescription("favorites", to: "Animal", inverse: "fans", isToMany: true),
            ]),
        EntityDescription(
            "Animal", attributes: [AttributeDescription("name", .string), AttributeDescription("weight", .integer64)],
            relationships: [
                RelationshipDescription("keeper", to: "Keeper", inverse: "animals"),
                RelationshipDescription("doctors", to: "Doctor", inverse: "animals", isToMany: true),
                RelationshipDescription("fans", to: "Keeper", inverse: "favorites", isToMany: true),
            ]),
        EntityDescription(
            "Hound", parent: "Animal",
            attributes: [AttributeDescription("toy", .string), AttributeDescription("rank", .integer32)]),
        EntityDescription(
            "Doctor", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("animals", to: "Animal", inverse: "doctors", isToMany: true)
            ]),
    ]

    private static let rows = """
        INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE) VALUES (1, 3, 1, 'Ann', 30), (5, 3, 1, NULL, NULL), (9, 3, 1, 'Cleo', 51);
        INSERT INTO ZPET (Z_PK, Z_ENT, Z_OPT, ZNAME, ZWEIGHT, ZTOY, ZOWNER, Z_FOK_OWNER) VALUES
            (2, 4, 1, 'Cat', 4, NULL, 1, 300), (3, 5, 1, 'Rex', 20, 'ball', 1, 200), (4, 5, 1, 'Bo', NULL, 'bone', NULL, NULL), (8, 4, 1, 'Mo', 2, NULL, 9, 100);
        UPDATE ZOWNER SET ZFAVORITE = 3, Z4_FAVORITE = 5 WHERE Z_PK = 1;
        UPDATE ZOWNER SET ZFAVORITE = 2, Z4_FAVORITE = 4 WHERE Z_PK = 9;
        INSERT INTO ZCLINIC (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'North'), (2, 1, 1, 'South');
        INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 2, 1, 'gone');
        """

    private func instances(_ mapping: String, _ source: String) -> MappingExpression {
        .destinationInstances(forEntityMappingNamed: mapping, sourceInstances: .source(source))
    }

    private var mapping: MappingModel {
        func animals(_ name: String, _ source: String, _ destination: String, _ more: [PropertyMapping])
            -> EntityMapping
        {
            EntityMapping(
                name, from: source, to: destination,
                attributeMappings: [
                    PropertyMapping("name", .source("name")), PropertyMapping("weight", .source("weight")),
                ] + more,
                relationshipMappings: [
                    PropertyMapping("keeper", instances("OwnerToKeeper", "owner")),
                    PropertyMapping("doctors", instances("ClinicToDoctor", "clinics")),
                ])
        }
        return MappingModel(entityMappings: [
            EntityMapping(
                "OwnerToKeeper", from: "Owner", to: "Keeper",
                attributeMappings: [
                    PropertyMapping("fullName", .source("name")), PropertyMapping("sortName", .source("name")),
                    PropertyMapping("age", .source("age")), PropertyMapping("picture", .source("photo")),
                    PropertyMapping("since", .constant(nil)),
                ],
                relationshipMappings: [
                    PropertyMapping("animals", .destinationInstances(forSourceRelationshipNamed: "pets")),
                    PropertyMapping("friends", .destinationInstances(forSourceRelationshipNamed: "friends")),
                    PropertyMapping("favorites", .destinationInstances(forSourceRelationshipNamed: "favorite")),
                ]),
            animals("PetToAnimal", "Pet", "Animal", []),
            animals(
                "DogToHound", "Dog", "Hound",
                [PropertyMapping("toy", .source("toy")), PropertyMapping("rank", .constant(7))]),
            EntityMapping(
                "ClinicToDoctor", from: "Clinic", to: "Doctor",
                attributeMappings: [PropertyMapping("name", .source("name"))]),
        ])
    }

    private func store() throws -> MigratedStore {
        let store = try MigratedStore(Self.old, Self.rows)
        let model = try ManagedObjectModel(entities: Self.old)
        let container = try PersistentContainer(name: "Old", managedObjectModel: model, storeURL: store.url)
        try container.viewContext.performAndWait {
            let context = container.viewContext
            let owners = Array(try context.fetch(FetchRequest<ManagedObject>(entityName: "Owner"))).sorted {
                $0.objectID.description < $1.objectID.description
            }
            let clinics = try context.fetch(FetchRequest<ManagedObject>(entityName: "Clinic"))
            let pets = try context.fetch(FetchRequest<ManagedObject>(entityName: "Pet"))
            owners[0]["photo"] = Data(repeating: 7, count: 300_000)
            owners[1]["photo"] = Data([1, 2, 3])
            owners[0]["friends"] = Set([owners[2]])
            for clinic in clinics { clinic["patients"] = Set(pets.prefix(3)) }
            try context.save()
        }
        try container.close()
        return store
    }

    /// All objects of both ways, without the numbers of their versions.
    private func contents(_ url: URL) throws -> [String] {
        let tables = try SQLShell.run(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('Z_METADATA', 'Z_FAULTLINE') ORDER BY 1",
            url)
        return try tables.flatMap { table in
            let columns = try SQLShell.run(
                "SELECT name FROM pragma_table_info('\(table)') WHERE name <> 'Z_OPT' AND name NOT LIKE 'Z_FOK%' ORDER BY 1",
                url)
            return try ["\(table): \(columns)"]
                + SQLShell.run(
                    "SELECT \(columns.map { "quote(CASE WHEN substr(\($0), 1, 1) = x'02' THEN 'file' ELSE \($0) END)" }.joined(separator: ", ")) FROM \(table) ORDER BY 1",
                    url)
        }
    }

    private func compare(_ mapping: MappingModel, to entities: [EntityDescription] = Self.new) throws {
        let (old, new) = (try ManagedObjectModel(entities: Self.old), try ManagedObjectModel(entities: entities))
        #expect(MigrationRoute.Step(from: old, to: new, mapping: mapping).reasonForLoading == nil)
        let (store, target) = (try store(), try TestStore.makeFolder().appendingPathComponent("New.sqlite"))
        try MigrationManager(sourceModel: old, destinationModel: new)
            .migrateStore(from: store.url, mapping: mapping, to: target)
        try SQLShell.run("PRAGMA wal_checkpoint", store.url)
        let identity = try FileManager.default.attributesOfItem(atPath: store.url.path)[.systemFileNumber] as? Int
        try store.migrate(to: new) { $0.mappingModels = [mapping] }.close()
        // The file was changed in place.
        #expect(try FileManager.default.attributesOfItem(atPath: store.url.path)[.systemFileNumber] as? Int == identity)
        let (found, expected) = (try contents(store.url), try contents(target))
        #expect(found == expected)
        let order = "SELECT Z_PK FROM ZANIMAL WHERE ZKEEPER = 1 ORDER BY Z_FOK_KEEPER"
        if entities == Self.new {
            #expect(try store.rows(order) == ["3", "2"])
            // A manager has no order to set if the ordered end is not mapped.
            let isMapped = mapping.entityMappings[0].relationshipMappings.contains { $0.name == "animals" }
            #expect(try SQLShell.run(order, target) == ["3", "2"] || !isMapped)
        }
    }

    @Test("Values, constants, renamed relationships, join tables and hierarchies are the same")
    func alike() throws {
        try compare(mapping)
    }

    @Test("Relationships that only one end maps, and entities that no mapping names, are the same")
    func partly() throws {
        var mapping = mapping
        // The inverse ends are left out.
        mapping.entityMappings[0].relationshipMappings.remove(at: 0)
        try compare(mapping)
        mapping = self.mapping
        for index in [1, 2] { mapping.entityMappings[index].relationshipMappings.remove(at: 0) }
        try compare(mapping)
        mapping = self.mapping
        mapping.entityMappings.remove(at: 3)
        for index in [1, 2] { mapping.entityMappings[index].relationshipMappings.remove(at: 1) }
        try compare(mapping)
        mapping = self.mapping
        mapping.entityMappings[1].attributeMappings = []
        mapping.entityMappings[1].mappingType = .transform
        try compare(mapping)
    }

    @Test("A copy mapping without property mappings is the same, and so is an inferred one")
    func copied() throws {
        let model = try ManagedObjectModel(entities: Self.old)
        var later = Self.old
        later[4].versionHashModifier = "2"
        try compare(
            MappingModel(
                entityMappings: model.entities.map { EntityMapping($0.name, .copy, from: $0.name, to: $0.name) }),
            to: later)
        try compare(
            try MappingModel.inferredMappingModel(from: model, to: try ManagedObjectModel(entities: later)), to: later)
    }

    @Test("What SQL cannot do as the manager does is left to it, with the reason")
    func reasons() throws {
        let (old, new) = (try ManagedObjectModel(entities: Self.old), try ManagedObjectModel(entities: Self.new))
        func reason(_ change: (inout MappingModel) -> Void) -> String? {
            var changed = mapping
            change(&changed)
            return MigrationRoute.Step(from: old, to: new, mapping: changed).reasonForLoading
        }
        #expect(reason { $0.entityMappings[0].entityMigrationPolicyClassName = "P" } == "'OwnerToKeeper' has a policy")
        #expect(
            reason {
                $0.entityMappings[0].sourceExpression = try? MappingExpression(
                    format:
                        "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Owner\", \"age > 3\"), $manager.sourceContext, NO)"
                )
            } == "'OwnerToKeeper' selects its objects")
        #expect(
            reason {
                $0.entityMappings[0].sourceExpression = try? MappingExpression(
                    format:
                        "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Owner\", \"TRUEPREDICATE\"), $manager.sourceContext, NO)"
                )
            } == nil)
        #expect(
            reason { $0.entityMappings.append($0.entityMappings[0]) }
                == "'OwnerToKeeper' is not the only mapping of its entities")
        #expect(
            reason { $0.entityMappings[3].destinationEntityName = "Hound" }
                == "'ClinicToDoctor' is not the only mapping of its entities")
        #expect(
            reason { $0.entityMappings[0].attributeMappings[0].valueExpression = .source("favorite.name") }
                == "'Keeper.fullName' needs a value that SQL cannot compute")
        #expect(
            reason { $0.entityMappings[0].attributeMappings[0].valueExpression = .source("age") }
                == "'Keeper.fullName' needs a value that SQL cannot compute")
        #expect(
            reason { $0.entityMappings[0].attributeMappings[0].valueExpression = .variable(.source) }
                == "'Keeper.fullName' is computed")
        #expect(
            reason { $0.entityMappings[2].attributeMappings[3].valueExpression = .constant("x") }
                == "'Hound.rank' gets a constant that must be converted or checked")
        #expect(
            reason { $0.entityMappings[0].attributeMappings[0].name = "animals" }
                == "'OwnerToKeeper' sets 'animals', which is not an attribute of 'Keeper'")
        #expect(
            reason { $0.entityMappings[0].relationshipMappings[0].name = "age" }
                == "'OwnerToKeeper' sets 'age', which is not a relationship of 'Keeper'")
        #expect(
            reason { $0.entityMappings[0].relationshipMappings[0].valueExpression = instances("PetToAnimal", "pets") }
                == "'Keeper.animals' takes only the objects of one mapping")
        #expect(
            reason { $0.entityMappings[2].relationshipMappings.remove(at: 0) }
                == "not all mappings set 'Hound.keeper'")
        #expect(
            reason {
                $0.entityMappings[0].relationshipMappings[0].valueExpression = instances("OwnerToKeeper", "friends")
            }
                == "'Keeper.animals' cannot refer to objects of 'Keeper'")
        #expect(
            reason {
                $0.entityMappings[0].relationshipMappings[0].valueExpression =
                    .destinationInstances(forSourceRelationshipNamed: "favorite")
            }?.hasSuffix("does not continue exactly one relationship") == true)
        #expect(
            reason {
                $0.entityMappings[1].relationshipMappings[0].valueExpression = instances("ClinicToDoctor", "clinics")
            }
                == "'Animal.keeper' can hold fewer objects than before")
    }

    @Test("What the rows do not allow is refused before anything changes")
    func refusals() throws {
        let store = try store()
        var mapping = mapping
        mapping.entityMappings[1].attributeMappings[1] = PropertyMapping("weight", .source("weight"))
        var entities = Self.new
        entities[1].attributes[1] = AttributeDescription("weight", .integer64, isOptional: false)
        #expect(
            try store.refusal(entities) { $0.mappingModels = [mapping] }
                == "Migrating STORE is refused: 'Hound.weight' becomes required, but the Dog object with the primary key 4 has no value; give it a default value, or set the values in the older version first."
        )
        entities = Self.new
        entities[1].uniquenessConstraints = [["name"]]
        try store.rows("UPDATE ZPET SET ZNAME = 'Rex' WHERE Z_PK = 8")
        #expect(
            try store.refusal(entities) { $0.mappingModels = [mapping] }
                == "Migrating STORE is refused: 'Animal.name' must be unique now, but another object has the same values as the Pet object with the primary key 8; make the values distinct in the older version first, or write a custom stage that merges the objects."
        )
    }
}
