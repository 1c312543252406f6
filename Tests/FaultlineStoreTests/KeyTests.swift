import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation
import Testing

private final class Cow: ManagedObject {
    override class var entityName: String { "Dog" }
}

private final class Mixed: ManagedObject {
    static let number = AttributeKey<Int64?>("number")
    static let numberAsText = AttributeKey<String?>("number")
    static let textAsNumber = AttributeKey<Int?>("text")
    static let relationAsText = AttributeKey<String?>("other")
    static let numberAsOne = ToOneKey<Mixed>("number")
    static let oneAsMany = ToManyKey<Mixed>("other")
    static let anything = AttributeKey<AttributeValue?>("number")
    static let numberAsFlag = AttributeKey<Bool?>("number")

    static func make() throws -> Mixed {
        let store = try TestStore(
            [
                EntityDescription(
                    "Mixed",
                    attributes: [AttributeDescription("number", .integer64), AttributeDescription("text", .string)],
                    relationships: [RelationshipDescription("other", to: "Mixed", inverse: nil)])
            ], classes: [Mixed.self])
        let context = store.container.newBackgroundContext()
        let object = Mixed(context: context)
        object[number] = .max
        object["text"] = "text"
        try context.save()
        return object
    }
}

@Suite("Types and classes are checked before memory is read as theirs")
struct KeyTests {
    private func sentence(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("A key with another type than its attribute ends the program with a message")
    func wrongAttributeType() async throws {
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Mixed.make()[Mixed.numberAsText]
        }
        #expect(
            sentence(text).contains(
                "'Mixed.number' of type Integer 64 cannot be read or set as Optional<String>; correct the type of its AttributeKey."
            ))
        let number = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Mixed.make()[Mixed.textAsNumber]
        }
        #expect(
            sentence(number).contains(
                "'Mixed.text' of type String cannot be read or set as Optional<Int>; correct the type of its AttributeKey."
            ))
    }

    @Test("A key of another kind than its property ends the program with a message")
    func wrongKind() async throws {
        let relation = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Mixed.make()[Mixed.relationAsText]
        }
        #expect(
            sentence(relation).contains(
                "'Mixed.other' is a relationship, not an attribute of type Optional<String>; use a ToOneKey or ToManyKey."
            ))
        let one = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Mixed.make()[Mixed.numberAsOne]
        }
        #expect(
            sentence(one).contains(
                "'Mixed.number' is an attribute of type Integer 64, not a to-one relationship; correct the kind of its key."
            ))
        let many = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Mixed.make()[Mixed.oneAsMany].count
        }
        #expect(
            sentence(many).contains(
                "'Mixed.other' is a to-one relationship, not a to-many relationship; correct the kind of its key."))
    }

    @Test("Keys of types with the same representation read the values")
    func fittingTypes() throws {
        let object = try Mixed.make()
        #expect(object[Mixed.anything] == .integer(.max))
        #expect(object[Mixed.numberAsFlag] == true)
        #expect(object[Mixed.number] == .max)
    }

    @Test("A subentity's class must inherit from the class of its parent")
    func unrelatedClasses() throws {
        let folder = try TestStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try ManagedObjectModel(entities: Household.entities)
        let error = try #require(throws: StoreError.self) {
            try PersistentContainer(
                name: "Test", managedObjectModel: model, storeURL: folder.appendingPathComponent("Test.sqlite"),
                classes: [Animal.self, Cow.self])
        }
        #expect(error.code == .invalidClass)
        #expect(
            error.message
                == "The class Cow of the entity 'Dog' does not inherit from Animal, the class of its parent 'Animal'; make it inherit from that class, or remove one of the two classes."
        )
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("Test.sqlite").path))
    }

    @Test("An object looked up by its parent entity's name is found with its own class")
    func parentURI() throws {
        let store = try Household.makeStore()
        let maker = store.container.newBackgroundContext()
        let rex = Dog(context: maker)
        rex.name = "Rex"
        rex[Dog.breed] = "Beagle"
        try maker.save()
        let coordinator = store.container.persistentStoreCoordinator
        let url = try #require(
            URL(string: rex.objectID.uriRepresentation().absoluteString.replacing("/Dog/", with: "/Animal/")))
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: url))
        #expect(id.entityName == "Animal")

        for isRead in [false, true] {
            let context = store.container.newBackgroundContext()
            let known = context.object(with: id)
            if isRead {
                #expect(try context.existingObject(with: id) === known)
                #expect((known as? Animal)?.name == "Rex")
                #expect(known["breed"] as? String == "Beagle")
                #expect(!known.isInaccessible)
                known["name"] = "Max"
            }
            let dog = try context.fetch(FetchRequest<Dog>())[0]
            #expect(type(of: dog as ManagedObject) == Dog.self)
            #expect(dog.name == (isRead ? "Max" : "Rex"))
            #expect(dog[Dog.breed] == "Beagle")
            #expect(try context.fetch(FetchRequest<Animal>())[0] === dog)
            #expect(context.object(with: id) === dog)
            #expect((known as? Animal)?.name == "Rex", "still a fault of the same row")
            #expect(context.updatedObjects == (isRead ? [dog] : []))
            try context.save()
        }
        #expect(try store.sql("SELECT Z_ENT, ZNAME, ZBREED FROM ZANIMAL") == ["3|Max|Beagle"])
    }

    @Test("Entities without columns share a table and can be fetched")
    func emptyTree() throws {
        let store = try TestStore([EntityDescription("Base"), EntityDescription("Leaf", parent: "Base")], classes: [])
        for name in ["Base", "Leaf"] { _ = store.context.insertNewObject(forEntityName: name) }
        try store.context.save()
        let other = store.container.newBackgroundContext()
        let found = try other.fetch(
            FetchRequest<ManagedObject>(entityName: "Base", sortDescriptors: [.ascending("self")]))
        #expect(found.map(\.entityName) == ["Base", "Leaf"])
    }

    @Test("Reading a deleted object's relationship is the same with and without recording", arguments: [false, true])
    func recordedReading(_ isRecording: Bool) throws {
        let store = try Household.makeStore(isRecording: isRecording)
        let maker = store.container.newBackgroundContext()
        let person = Person(context: maker)
        try maker.save()
        let found = try store.context.fetch(FetchRequest<Person>(includesPropertyValues: false))[0]
        maker.delete(person)
        try maker.save()
        #expect(found.pets.isEmpty)
        #expect(found.isFault)
        #expect(!found.isInaccessible)
        #expect(try store.context.count(for: FetchRequest<Person>()) == 0)
    }
}
