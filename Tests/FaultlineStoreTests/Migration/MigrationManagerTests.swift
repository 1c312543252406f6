import FaultlineModel
import Foundation
import Testing

@testable import FaultlineMigration
@testable import FaultlineStore

@Suite("A migration manager creates each newer object from older ones")
struct MigrationManagerTests {
    private let old: ManagedObjectModel
    private let new: ManagedObjectModel
    private let source: MigratedStore
    private let target: URL

    /// A shop whose orders have a price in euros becomes one whose orders have cents, and lines of their own.
    init() throws {
        old = try ManagedObjectModel(
            entities: [
                EntityDescription(
                    "Customer", attributes: [AttributeDescription("name", .string)],
                    relationships: [
                        RelationshipDescription(
                            "orders", to: "Order", inverse: "customer", isToMany: true, isOrdered: true),
                        RelationshipDescription("friends", to: "Customer", inverse: "friends", isToMany: true),
                    ]),
                EntityDescription(
                    "Order",
                    attributes: [AttributeDescription("price", .double), AttributeDescription("note", .string)],
                    relationships: [RelationshipDescription("customer", to: "Customer", inverse: "orders")]),
            ])
        new = try ManagedObjectModel(
            entities: [
                EntityDescription(
                    "Client", attributes: [AttributeDescription("name", .string, isOptional: false, maximumValue: 10)],
                    relationships: [
                        RelationshipDescription(
                            "orders", to: "Order", inverse: "client", isToMany: true, isOrdered: true),
                        RelationshipDescription("friends", to: "Client", inverse: "friends", isToMany: true),
                    ]),
                EntityDescription(
                    "Order",
                    attributes: [
                        AttributeDescription("cents", .integer64, isOptional: false),
                        AttributeDescription("currency", .string, defaultValue: "EUR"),
                    ],
                    relationships: [
                        RelationshipDescription("client", to: "Client", inverse: "orders", isOptional: false)
                    ]),
            ])
        source = try MigratedStore(
            old.entities,
            """
            INSERT INTO ZCUSTOMER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ann'), (7, 1, 1, 'Bob');
            INSERT INTO ZORDER (Z_PK, Z_ENT, Z_OPT, ZPRICE, ZCUSTOMER, Z_FOK_CUSTOMER) VALUES (2, 2, 1, 1.5, 7, 300), (3, 2, 1, 2.25, 7, 100), (5, 2, 1, 10, 1, 100);
            INSERT INTO Z_1FRIENDS VALUES (1, 7), (7, 1);
            """)
        target = try TestStore.makeFolder().appendingPathComponent("New.sqlite")
    }

    /// Computes cents.
    final class CentsPolicy: EntityMigrationPolicy {
        override func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
            guard selector == "centsForPrice:manager:", arguments[1] is MigrationManager else {
                return try super.value(forFunction: selector, arguments: arguments)
            }
            return (arguments[0] as? Double).map { Int64(($0 * 100).rounded()) }
        }
    }

    private var mapping: MappingModel {
        MappingModel(entityMappings: [
            EntityMapping(
                "CustomerToClient", from: "Customer", to: "Client",
                attributeMappings: [PropertyMapping("name", .source("name"))],
                relationshipMappings: [
                    PropertyMapping(
                        "orders",
                        .destinationInstances(forEntityMappingNamed: "OrderToOrder", sourceInstances: .source("orders"))
                    ),
                    PropertyMapping("friends", .destinationInstances(forSourceRelationshipNamed: "friends")),
                ]),
            EntityMapping(
                "OrderToOrder", .custom, from: "Order", to: "Order",
                attributeMappings: [
                    PropertyMapping(
                        "cents",
                        .function(
                            .variable(.entityPolicy), selector: "centsForPrice:manager:",
                            [.source("price"), .variable(.manager)]))
                ],
                relationshipMappings: [
                    PropertyMapping(
                        "client",
                        .destinationInstances(
                            forEntityMappingNamed: "CustomerToClient", sourceInstances: .source("customer")))
                ], entityMigrationPolicyClassName: "Shop.CentsPolicy"),
        ])
    }

    private func migrate(
        _ mapping: MappingModel, _ policies: [EntityMigrationPolicy.Type] = [CentsPolicy.self],
        _ change: (MigrationManager) -> Void = { _ in }
    ) throws {
        let manager = MigrationManager(sourceModel: old, destinationModel: new)
        manager.policies = policies
        change(manager)
        try manager.migrateStore(from: source.url, mapping: mapping, to: target)
    }

    /// The error of a migration, which must leave nothing behind.
    private func failure(
        _ mapping: MappingModel, _ policies: [EntityMigrationPolicy.Type] = [CentsPolicy.self],
        _ change: (MigrationManager) -> Void = { _ in }
    ) throws -> String {
        let before = try source.dump()
        let text = performing { try migrate(mapping, policies, change) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.deletingLastPathComponent().path) == [])
        #expect(try source.dump() == before)
        return text
    }

    @Test("Attributes, relationships, their order and keys are carried over", arguments: [1000, 1])
    func objects(batchSize: Int) throws {
        try migrate(mapping) { $0.batchSize = batchSize }
        let store = MigratedStore(url: target)
        try store.migrate(to: new)
        #expect(try store.rows("SELECT Z_PK, Z_ENT, ZNAME FROM ZCLIENT ORDER BY 1") == ["1|1|Ann", "7|1|Bob"])
        #expect(
            try store.rows("SELECT Z_PK, ZCENTS, ZCURRENCY, ZCLIENT FROM ZORDER ORDER BY 1")
                == ["2|150|EUR|7", "3|225|EUR|7", "5|1000|EUR|1"])
        #expect(try store.rows("SELECT Z_PK FROM ZORDER WHERE ZCLIENT = 7 ORDER BY Z_FOK_CLIENT") == ["3", "2"])
        #expect(try store.rows("SELECT Z_1FRIENDS, REFLEXIVE FROM Z_1FRIENDS ORDER BY 1") == ["1|7", "7|1"])
        #expect(try store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") == ["7", "5"])
    }

    /// Notes the order of the calls.
    final class Notes: EntityMigrationPolicy {
        private func note(_ text: String, _ mapping: EntityMapping, _ manager: MigrationManager) {
            #expect(manager.currentEntityMapping == mapping && manager.mappingModel != nil)
            manager.userInfo["notes"] = (manager.userInfo["notes"] as? [String] ?? []) + ["\(mapping.name) \(text)"]
        }

        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            note("begin", mapping, manager)
        }

        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            note("create", mapping, manager)
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
            #expect(made.count == 1)
            #expect(manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: made) == [source])
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            note("created", mapping, manager)
        }

        override func createRelationships(
            forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            note("relate", mapping, manager)
            try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
        }

        override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            note("related", mapping, manager)
        }

        override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            note("validate", mapping, manager)
        }

        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            note("end", mapping, manager)
        }
    }

    @Test("The stages visit each mapping in order, three times")
    func stages() throws {
        var (mapping, notes) = (mapping, [String]())
        mapping.entityMappings[0].entityMigrationPolicyClassName = "Notes"
        mapping.entityMappings[1].entityMigrationPolicyClassName = "Notes"
        mapping.entityMappings[1].attributeMappings[0].valueExpression = .constant(5)
        let manager = MigrationManager(sourceModel: old, destinationModel: new)
        manager.policies = [Notes.self]
        try manager.migrateStore(from: source.url, mapping: mapping, to: target)
        notes = try #require(manager.userInfo["notes"] as? [String])
        let (a, b) = ("CustomerToClient", "OrderToOrder")
        #expect(
            notes == [
                "\(a) begin", "\(a) create", "\(a) create", "\(a) created", "\(b) begin", "\(b) create", "\(b) create",
                "\(b) create", "\(b) created", "\(a) relate", "\(a) relate", "\(a) related", "\(b) relate",
                "\(b) relate", "\(b) relate", "\(b) related", "\(a) validate", "\(a) end", "\(b) validate", "\(b) end",
            ])
        #expect(manager.mappingModel == nil && manager.currentEntityMapping == nil)
    }

    /// Leaves out cheap orders.
    final class ExpensivePolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard (source["price"] as? Double ?? 0) > 2 else { return }
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        }
    }

    @Test("A policy that creates nothing leaves objects out")
    func omitted() throws {
        var mapping = mapping
        mapping.entityMappings[1].entityMigrationPolicyClassName = "ExpensivePolicy"
        mapping.entityMappings[1].attributeMappings[0].valueExpression = .constant(5)
        try migrate(mapping, [ExpensivePolicy.self])
        #expect(try SQLShell.run("SELECT Z_PK, ZCENTS FROM ZORDER", target) == ["3|5", "5|5"])
    }

    @Test("A source expression selects objects, and a second mapping of the same objects gives them other keys")
    func split() throws {
        var mapping = mapping
        mapping.entityMappings[0].sourceExpression = try MappingExpression(
            format:
                "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Customer\", \"name BEGINSWITH 'B'\"), $manager.sourceContext, NO)"
        )
        var second = mapping.entityMappings[0]
        second.name = "CustomerToClient_2"
        second.sourceExpression = nil
        second.relationshipMappings = []
        mapping.entityMappings.remove(at: 1)
        mapping.entityMappings[0].relationshipMappings = []
        mapping.entityMappings.append(second)
        try migrate(mapping)
        #expect(try SQLShell.run("SELECT Z_PK, ZNAME FROM ZCLIENT ORDER BY 1", target) == ["7|Bob", "8|Ann", "9|Bob"])
    }

    @Test("A copy mapping without property mappings copies the properties with equal names")
    func copied() throws {
        let manager = MigrationManager(sourceModel: old, destinationModel: old)
        try manager.migrateStore(
            from: source.url,
            mapping: MappingModel(entityMappings: [
                EntityMapping("C", .copy, from: "Customer", to: "Customer"),
                EntityMapping("O", .copy, from: "Order", to: "Order"),
            ]), to: target)
        for table in ["ZCUSTOMER", "ZORDER", "Z_1FRIENDS"] {
            let columns =
                table == "ZORDER" ? "Z_PK, ZPRICE, ZNOTE, ZCUSTOMER" : table == "ZCUSTOMER" ? "Z_PK, ZNAME" : "*"
            #expect(
                try SQLShell.run("SELECT \(columns) FROM \(table) ORDER BY 1", target)
                    == source.rows("SELECT \(columns) FROM \(table) ORDER BY 1"))
        }
    }

    @Test("Two passes add to one store")
    func passes() throws {
        let (first, second) = (
            MappingModel(entityMappings: [
                EntityMapping(
                    "C", .copy, from: "Customer", to: "Customer",
                    attributeMappings: [PropertyMapping("name", .source("name"))])
            ]),
            MappingModel(entityMappings: [
                EntityMapping(
                    "O", .copy, from: "Order", to: "Order",
                    attributeMappings: [PropertyMapping("price", .source("price"))])
            ])
        )
        let manager = MigrationManager(sourceModel: old, destinationModel: old)
        try manager.migrateStore(from: source.url, mapping: first, to: target)
        try manager.migrateStore(from: source.url, mapping: second, to: target)
        #expect(try SQLShell.run("SELECT COUNT(*) FROM ZCUSTOMER", target) == ["2"])
        #expect(try SQLShell.run("SELECT ZPRICE FROM ZORDER ORDER BY 1", target) == ["1.5", "2.25", "10.0"])
        // A pass that fails leaves the store of the others.
        manager.cancelMigrationWithError(CancellationError())
        #expect(throws: StoreError.self) {
            try manager.migrateStore(
                from: source.url, mapping: MappingModel(entityMappings: [EntityMapping("X", from: "No", to: "Order")]),
                to: target)
        }
        #expect(FileManager.default.fileExists(atPath: target.path))
    }

    /// Cancels the migration.
    final class CancelingPolicy: EntityMigrationPolicy {
        struct Stop: Error, CustomStringConvertible {
            var description: String { "stopped" }
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            manager.cancelMigrationWithError(Stop())
        }
    }

    @Test("A cancelled migration throws the error and leaves nothing behind")
    func cancelled() throws {
        var mapping = mapping
        mapping.entityMappings[0].entityMigrationPolicyClassName = "CancelingPolicy"
        #expect(try failure(mapping, [CentsPolicy.self, CancelingPolicy.self]) == "stopped")
    }

    @Test("An invalid object is named by its entity and primary key")
    func invalid() throws {
        try source.rows("UPDATE ZCUSTOMER SET ZNAME = 'Bartholomew' WHERE Z_PK = 7")
        let text = try failure(mapping)
        #expect(
            text
                == "The migrated Client object with the primary key 7 is invalid: 'name' has 11 characters, more than the model's maximum of 10; let the mapping model or its policy set a valid value."
        )
        try source.rows(
            "UPDATE ZCUSTOMER SET ZNAME = 'Bob' WHERE Z_PK = 7; UPDATE ZORDER SET ZCUSTOMER = NULL WHERE Z_PK = 3")
        #expect(
            try failure(mapping)
                == "The migrated Order object with the primary key 3 is invalid: 'Order.client' has no object and is not optional; let the mapping model or its policy set a valid value."
        )
    }

    @Test("A mapping model that does not fit is refused before anything is created")
    func unfit() throws {
        func refused(_ change: (inout MappingModel) -> Void) throws -> String {
            var changed = mapping
            change(&changed)
            return try failure(changed)
        }
        #expect(
            try refused { $0.entityMappings[0].sourceEntityName = "Buyer" }
                == "The mapping model does not fit the two models: 'CustomerToClient' names the entity 'Buyer', which the older model does not have; correct it."
        )
        #expect(
            try refused { $0.entityMappings[0].destinationEntityVersionHash = Data(count: 32) }
                == "The mapping model does not fit the two models: 'CustomerToClient' was made for another version of the newer entity 'Client'; correct it."
        )
        #expect(
            try refused { $0.entityMappings[1].name = "CustomerToClient" }
                == "The mapping model does not fit the two models: has two entity mappings 'CustomerToClient'; correct it."
        )
        #expect(
            try failure(mapping, [])
                == "The mapping 'OrderToOrder' needs the policy 'Shop.CentsPolicy', which the migration manager does not have; add the class to its policies."
        )
        #expect(
            try refused { $0.entityMappings[0].attributeMappings[0].valueExpression = .source("nick") }
                == "The mapping 'CustomerToClient' cannot set 'Client.name' for the Customer object with the primary key 1: its expression '$source.nick' refers to 'nick', which does not exist; correct the mapping model."
        )
        #expect(
            try refused { $0.entityMappings[0].attributeMappings[0].valueExpression = .constant(5) }
                == "The mapping 'CustomerToClient' cannot set 'Client.name' for the Customer object with the primary key 1: its expression '5' gives a value that is not a valid String; correct the mapping model."
        )
        #expect(
            try refused { $0.entityMappings[0].relationshipMappings[0].valueExpression = .source("orders") }
                == "The mapping 'CustomerToClient' cannot set 'Client.orders' for the Customer object with the primary key 1: its expression '$source.orders' gives an older object; convert it with destinationInstances(…); correct the mapping model."
        )
        #expect(
            try refused {
                $0.entityMappings[1].attributeMappings[0].valueExpression = .function(
                    .variable(.entityPolicy), selector: "other:", [])
            }
                == "The policy CentsPolicy has no function 'other:', which an expression calls; override value(forFunction:arguments:) to provide it."
        )
    }

    @Test(
        "Key paths and their operators give values",
        arguments: [
            ("$source.orders.@count", "2"), ("$source.orders.@sum.price", "3.75"),
            ("$source.orders.@max.price", "2.25"),
            ("$source.orders.@min.price", "1.5"), ("$source.orders.@avg.price", "1.875"),
            ("FUNCTION($source, \"valueForKey:\", \"name\")", "Bob"), ("\"text\"", "text"), ("7", "7"), ("nil", "NULL"),
            ("$entityPolicy", "error"),
        ])
    func expressions(text: String, expected: String) throws {
        let type: AttributeType =
            Int(expected) != nil ? .integer64 : Double(expected) != nil ? .double : .string
        let model = try ManagedObjectModel(
            entities: [EntityDescription("R", attributes: [AttributeDescription("v", type)])])
        let manager = MigrationManager(sourceModel: old, destinationModel: model)
        let mapping = MappingModel(entityMappings: [
            EntityMapping(
                "R", from: "Customer", to: "R",
                attributeMappings: [PropertyMapping("v", try MappingExpression(format: text))])
        ])
        let result = performing { try manager.migrateStore(from: source.url, mapping: mapping, to: target) }
        guard expected != "error" else {
            #expect(result.contains("gives a value of type"))
            return
        }
        #expect(result == "no error")
        #expect(try SQLShell.run("SELECT ZV FROM ZR WHERE Z_PK = 7", target) == [expected])
    }

    @Test("Large values move with their objects, and the files of the older store go")
    func files() throws {
        func model(_ name: String) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Photo",
                    attributes: [AttributeDescription(name, .binary, allowsExternalBinaryDataStorage: true)])
            ])
        }
        let (old, new) = (try model("data"), try model("image"))
        let url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        let folder = url.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        let filled = try PersistentContainer(name: "Old", managedObjectModel: old, storeURL: url)
        let context = filled.newBackgroundContext()
        try context.performAndWait {
            context.insertNewObject(forEntityName: "Photo")["data"] = Data(repeating: 1, count: 200_000)
            context.insertNewObject(forEntityName: "Photo")["data"] = Data(repeating: 2, count: 10)
            try context.save()
        }
        try filled.close()
        let before = try files()
        var description = PersistentStoreDescription(url: url)
        description.mappingModels = [
            MappingModel(entityMappings: [
                EntityMapping(
                    "P", .custom, from: "Photo", to: "Photo",
                    attributeMappings: [PropertyMapping("image", .source("data"))],
                    entityMigrationPolicyClassName: "CopyingPolicy")
            ])
        ]
        description.migrationPolicies = [CopyingPolicy.self]
        let migrated = try PersistentContainer(name: "New", managedObjectModel: new, storeDescription: description)
        let after = try files()
        #expect(before.count == 1 && after.count == 1 && before != after)
        let reading = migrated.newBackgroundContext()
        try reading.performAndWait {
            let photos = try reading.fetch(FetchRequest<ManagedObject>(entityName: "Photo"))
            #expect(Set(photos.compactMap { ($0["image"] as? Data)?.count }) == [200_000, 10])
        }
        try migrated.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path).sorted()
                == [".Store_SUPPORT", "Store.sqlite"])
    }
}

@Suite("The methods that a policy overrides are known")
struct PolicyMethodTests {
    private final class Creating: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {}
    }

    private class Relating: EntityMigrationPolicy {
        override func createRelationships(
            forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {}
    }

    private final class Inheriting: Relating {
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}
    }

    @Test("Those of a class, and those that it inherits")
    func overridden() {
        let types = [EntityMigrationPolicy.self, CopyingPolicy.self, Creating.self, Relating.self, Inheriting.self]
        #expect(
            types.map { PolicyMethods.createDestinationInstances.isOverridden(in: $0) }
                == [false, false, true, false, false])
        #expect(
            types.map { PolicyMethods.createRelationships.isOverridden(in: $0) } == [false, false, false, true, true])
    }
}
