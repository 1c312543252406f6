import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("Opening with another model lists the differences", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct StoreMatchTests {
    private func message(_ fixture: CoreDataFixture, _ model: ManagedObjectModel, _ change: String = "") throws
        -> String
    {
        let url = try fixture.copy()
        if !change.isEmpty { try SQLShell.run(change, url) }
        let text = performing {
            var description = PersistentStoreDescription(url: url)
            description.shouldMigrateStoreAutomatically = false
            _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: description)
        }
        let (start, end) = (
            "The store '\(url.path)' was created with another model: ",
            "; open it with the model that it was created with, or migrate it."
        )
        guard text.hasPrefix(start), text.hasSuffix(end) else { return text }
        return String(text.dropFirst(start.count).dropLast(end.count))
    }

    private func model(_ fixture: CoreDataFixture, version: String) throws -> ManagedObjectModel {
        var fixture = fixture
        fixture.version = version
        return try fixture.loadModel()
    }

    @Test func olderVersion() throws {
        #expect(
            try message(.sample1, model(.sample1, version: "SampleModel2"))
                == "the store lacks the entity 'LuxuryCar', the store has an entity 'ExpensiveSportCar' that the model lacks, the store's table ZCAR has a column ZCOLOR that the model lacks, the store's table ZPERSON has a column ZID that the model lacks"
        )
        #expect(
            try message(.sample2, model(.sample2, version: "SampleModel"))
                == "the store lacks 'Car.color', the store lacks the entity 'ExpensiveSportCar', the store lacks 'Person.id', the store has an entity 'LuxuryCar' that the model lacks"
        )
        #expect(
            try message(.users, model(.users, version: "SampleModel3_v2"))
                == "the store lacks the entity 'Pet', the store lacks 'User.pet'")
        #expect(
            try message(.bookmarks1, model(.bookmarks1, version: "BookmarksModel 3"))
                == "the store lacks 'BookmarkEntity.isPendingDeletion', the store lacks 'BookmarkEntity.modifiedAt', the store's table ZBOOKMARKENTITY has a column ZISFAVORITE that the model lacks"
        )
        #expect(
            try message(.bookmarks3, model(.bookmarks3, version: "BookmarksModel 6"))
                == "the store lacks 'BookmarkEntity.isStub', the store lacks 'BookmarkEntity.lastChildrenPayloadReceivedFromSync', the store lacks 'BookmarkEntity.favoriteFolders', the store lacks 'BookmarkEntity.favorites', the store's table ZBOOKMARKENTITY has a column ZFAVORITEFOLDER that the model lacks"
        )
    }

    @Test func otherTypes() throws {
        var entities = try CoreDataFixture.books.loadModel().entities
        let book = try #require(entities.firstIndex { $0.name == "Book" })
        let price = try #require(entities[book].attributes.firstIndex { $0.name == "price" })
        entities[book].attributes[price].type = .string
        #expect(
            try message(.books, ManagedObjectModel(entities: entities))
                == "its 'Book.price' is DECIMAL, which cannot hold the model's String")
    }

    @Test func otherRelationships() throws {
        var entities = try CoreDataFixture.bookmarks1.loadModel().entities
        let children = try #require(entities[0].relationships.firstIndex { $0.name == "children" })
        entities[0].relationships[children].isOrdered = false
        #expect(
            try message(.bookmarks1, ManagedObjectModel(entities: entities))
                == "its 'BookmarkEntity.children' is ordered, but the model's is not")
        var cars = try CoreDataFixture.sample1.loadModel().entities
        let person = try #require(cars.firstIndex { $0.name == "Person" })
        cars[person].relationships[0].isOrdered = true
        #expect(
            try message(.sample1, ManagedObjectModel(entities: cars))
                == "its 'Person.cars' is unordered, but the model's is ordered")
        cars[person].relationships[0].isOrdered = false
        let car = try #require(cars.firstIndex { $0.name == "Car" })
        cars[car].relationships.append(RelationshipDescription("driver", to: "Person", inverse: nil))
        #expect(try message(.sample1, ManagedObjectModel(entities: cars)) == "the store lacks 'Car.driver'")
    }

    @Test("Relationships for which a store has no column are not looked for")
    func relationshipsWithoutColumns() throws {
        func model(_ entity: String, _ more: [RelationshipDescription]) throws -> ManagedObjectModel {
            var entities = try CoreDataFixture.sample1.loadModel().entities
            let index = try #require(entities.firstIndex { $0.name == entity })
            entities[index].relationships += more
            return try ManagedObjectModel(entities: entities)
        }
        let likes = try model("Person", [RelationshipDescription("likes", to: "Car", inverse: nil, isToMany: true)])
        let url = try CoreDataFixture.sample1.copy()
        #expect(try PersistentStoreCoordinator.fits(likes, storeAt: url))
        #expect(
            try PersistentStoreCoordinator.fits(
                model("Car", [RelationshipDescription("driver", to: "Person", inverse: nil, isTransient: true)]),
                storeAt: url))
        #expect(
            try PersistentStoreCoordinator.fits(
                model(
                    "Person",
                    [
                        RelationshipDescription(
                            "seen", to: "Person", inverse: "seenBy", isToMany: true, isTransient: true),
                        RelationshipDescription("seenBy", to: "Person", inverse: "seen", isTransient: true),
                    ]), storeAt: url))
        try SQLShell.run("ALTER TABLE ZCAR ADD COLUMN Z3LIKES INTEGER", url)
        #expect(try PersistentStoreCoordinator.fits(likes, storeAt: url))
        try SQLShell.run("ALTER TABLE ZCAR ADD COLUMN ZLIKES INTEGER", url)
        #expect(
            try PersistentStoreCoordinator.mismatch(of: likes, withStoreAt: url)
                == "the store's table ZCAR has a column ZLIKES that the model lacks")
    }

    @Test func brokenStores() throws {
        let model = try CoreDataFixture.users.loadModel()
        #expect(
            try message(.users, model, "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL") == "the store lacks the entity 'User'")
        #expect(
            try message(.users, model, "DROP TABLE ZUSER")
                == "the store lacks 'User.name', the store lacks 'User.petName'")
        #expect(try message(.users, model, "UPDATE Z_METADATA SET Z_PLIST = NULL") == "no error")
    }

    @Test("A renamed entity keeps the number that the store has under its old name")
    func renamedEntity() throws {
        let url = try CoreDataFixture.sample2.copy()
        let context = try CoreDataFixture.sample2.open(url).newBackgroundContext()
        let cars = try context.fetch(FetchRequest<ManagedObject>(entityName: "LuxuryCar"))
        #expect(cars.count == Int(try SQLShell.run("SELECT COUNT(*) FROM ZCAR WHERE Z_ENT = 3", url)[0]))
        let car = context.insertNewObject(forEntityName: "LuxuryCar")
        car["numberPlate"] = "new"
        try context.save()
        #expect(try SQLShell.run("SELECT Z_PK, Z_ENT FROM ZCAR WHERE ZNUMBERPLATE = 'new'", url) == ["126|3"])
    }
}
