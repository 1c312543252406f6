import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

/// Core Data stores each element of a composite attribute in a column, whose name nothing shows for certain.
@Suite("Composite attributes in a store that Core Data wrote")
struct CompositeAttributeTests {
    private static func model(extra: AttributeDescription? = nil) throws -> ManagedObjectModel {
        var place = AttributeDescription("place", .composite)
        place.elements = [
            AttributeDescription("latitude", .double), AttributeDescription("longitude", .double),
        ]
        var home = AttributeDescription("home", .composite)
        home.elements = [AttributeDescription("city", .string), place]
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Person", attributes: [AttributeDescription("name", .string), home] + [extra].compactMap { $0 })
        ])
    }

    /// Makes a store with the columns that Core Data would have.
    private static func make(_ columns: [String]) throws -> URL {
        let url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        let plain = try ManagedObjectModel(entities: [
            EntityDescription("Person", attributes: [AttributeDescription("name", .string)])
        ])
        try PersistentContainer(name: "Test", managedObjectModel: plain, storeURL: url).close()
        try SQLShell.disguise(url)
        for (column, type) in zip(columns, ["VARCHAR", "FLOAT", "FLOAT"]) {
            try SQLShell.run("ALTER TABLE ZPERSON ADD COLUMN \(column) \(type)", url)
        }
        let list = columns.joined(separator: ", ")
        try SQLShell.run(
            """
            INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME\(list.isEmpty ? "" : ", " + list))
            VALUES (1, 1, 1, 'Ada'\(list.isEmpty ? "" : ", 'London', 51.5, -0.1"));
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1;
            """, url)
        return url
    }

    @Test(
        "are read and saved as dictionaries, and by the names of their elements",
        arguments: [
            ["ZCITY", "ZLATITUDE", "ZLONGITUDE"], ["ZHOMECITY", "ZHOMEPLACELATITUDE", "ZHOMEPLACELONGITUDE"],
            ["ZHOME_CITY", "ZHOME_PLACE_LATITUDE", "ZHOME_PLACE_LONGITUDE"], ["ZCITY1", "ZLATITUDE2", "ZLONGITUDE"],
        ])
    func values(_ columns: [String]) throws {
        let url = try Self.make(columns)
        let model = try Self.model()
        #expect(try PersistentStoreCoordinator.mismatch(of: model, withStoreAt: url) == nil)
        let container = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let person = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).first)
            #expect(person["home.city"] as? String == "London" && person["home.place.latitude"] as? Double == 51.5)
            let home = try #require(person["home"] as? [String: Any])
            #expect(home["city"] as? String == "London")
            #expect(home["place"] as? [String: Double] == ["latitude": 51.5, "longitude": -0.1])
            #expect(person[AttributeKey<String?>("home.city")] == "London")
            person["home"] = ["city": "Paris", "place": ["latitude": 48.9]] as [String: Any]
            person["name"] = "Bea"
            try context.save()
            person["home.city"] = "Lyon"
            #expect(person.changedValues()["home.city"] as? String == "Lyon")
            try context.save()
            #expect(
                performing {
                    var request = FetchRequest<ManagedObject>(entityName: "Person")
                    request.predicate = try FetchPredicate(format: "home.city == 'Lyon'")
                    _ = try context.fetch(request)
                }
                    == "Fetching Person: 'home.city' compares a part of 'home', which is a composite attribute of Person; fetch the objects, and compare them then."
            )
        }
        #expect(
            try SQLShell.run("SELECT ZNAME, \(columns.joined(separator: ", ")) FROM ZPERSON", url)
                == ["Bea|Lyon|48.9|NULL"])
        try context.performAndWait {
            let person = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).first)
            person["home"] = nil
            try context.save()
            #expect(person["home"] == nil)
        }
    }

    @Test("make no store, and keep one without their columns from being opened, but not from being matched")
    func refused() throws {
        let model = try Self.model()
        let missing = try TestStore.makeFolder().appendingPathComponent("New.sqlite")
        #expect(
            performing { _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: missing) }
                == "The store '\(missing.path)' does not support 'Person.home', a composite attribute; make its parts separate attributes in the model."
        )
        #expect(!FileManager.default.fileExists(atPath: missing.path))
        let url = try Self.make([])
        try SQLShell.run("ALTER TABLE ZPERSON ADD COLUMN ZTOWN VARCHAR", url)
        #expect(try PersistentStoreCoordinator.mismatch(of: model, withStoreAt: url) == nil)
        #expect(
            performing { _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url) }
                == "The store '\(url.path)' does not support 'Person.home', a composite attribute, for which it has no column; change it in the model."
        )
    }

    @Test("are not migrated to, and lose nothing")
    func migration() throws {
        let url = try Self.make(["ZCITY", "ZLATITUDE", "ZLONGITUDE"])
        var description = PersistentStoreDescription(url: url)
        description.sourceModels = [try Self.model()]
        let newer = try Self.model(extra: AttributeDescription("age", .integer16))
        #expect(
            performing {
                _ = try PersistentContainer(name: "Test", managedObjectModel: newer, storeDescription: description)
            }.contains("does not support 'Person.home', a composite attribute; make its parts separate"))
        #expect(try SQLShell.run("SELECT ZCITY FROM ZPERSON", url) == ["London"])
    }

    @Test("are compared with their elements")
    func differences() throws {
        let old = try Self.model()
        var entities = old.entities
        let home = try #require(entities[0].attributes.firstIndex { $0.name == "home" })
        entities[0].attributes[home].elements[0].isOptional = false
        let new = try ManagedObjectModel(entities: entities)
        #expect(new.versionChecksum != old.versionChecksum)
        #expect(
            new.differences(from: old).map(\.description) == [
                "the type of 'Person.home' changed from Composite of city (String), place (Composite of latitude (Double), longitude (Double)) to Composite of city (String, required), place (Composite of latitude (Double), longitude (Double))"
            ])
    }

    @Test("are validated, with their elements")
    func validation() {
        func message(_ elements: [AttributeDescription]) -> String {
            var home = AttributeDescription("home", .composite)
            home.elements = elements
            return performing { _ = try ManagedObjectModel(entities: [EntityDescription("A", attributes: [home])]) }
        }
        let city = AttributeDescription("city", .string)
        let problem = "of attribute 'A.home' has no type, or a name that is invalid or taken; correct it."
        #expect(message([city]) == "no error")
        #expect(message([city, city]) == "The element 'city' \(problem)")
        #expect(message([AttributeDescription("a.b", .string)]) == "The element 'a.b' \(problem)")
        #expect(message([AttributeDescription("x", .undefined)]) == "The element 'x' \(problem)")
        var nested = city
        for _ in 1...9 {
            var outer = AttributeDescription("more", .composite)
            outer.elements = [nested]
            nested = outer
        }
        #expect(message([nested]).hasSuffix("nests composites more than 8 levels deep; make them shallower."))
    }
}
