import FaultlineModel
import FaultlineStore
import Foundation

class Animal: ManagedObject {
    static let name = AttributeKey<String?>("name")
    static let owner = ToOneKey<Person>("owner")

    var name: String? {
        get { self[Self.name] }
        set { self[Self.name] = newValue }
    }
    var owner: Person? {
        get { self[Self.owner] }
        set { self[Self.owner] = newValue }
    }
}

final class Dog: Animal {
    static let breed = AttributeKey<String?>("breed")
}

final class Cat: Animal {}

final class Person: ManagedObject {
    static let name = AttributeKey<String?>("name")
    static let height = AttributeKey<Double?>("height")
    static let photo = AttributeKey<Data?>("photo")
    static let mood = AttributeKey<Int?>("mood")
    static let pets = ToManyKey<Animal>("pets")
    static let clubs = ToManyKey<Club>("clubs")
    static let home = ToOneKey<Club>("home")
    static let spouse = ToOneKey<Person>("spouse")
    static let guardian = ToOneKey<Person>("guardian")

    var name: String? {
        get { self[Self.name] }
        set { self[Self.name] = newValue }
    }
    var photo: Data? {
        get { self[Self.photo] }
        set { self[Self.photo] = newValue }
    }
    var pets: ToMany<Animal> { self[Self.pets] }
    var clubs: ToMany<Club> { self[Self.clubs] }
    var spouse: Person? {
        get { self[Self.spouse] }
        set { self[Self.spouse] = newValue }
    }
}

final class Club: ManagedObject {
    static let name = AttributeKey<String?>("name")
    static let people = ToManyKey<Person>("people")

    var name: String? {
        get { self[Self.name] }
        set { self[Self.name] = newValue }
    }
    var people: ToMany<Person> { self[Self.people] }
}

/// A model with every kind of relationship.
///
/// Entities by number: 1 Animal, 2 Cat, 3 Dog, 4 Club, 5 Person.
enum Household {
    static let entities = [
        EntityDescription(
            "Animal", attributes: [AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("owner", to: "Person", inverse: "pets")]),
        EntityDescription("Dog", parent: "Animal", attributes: [AttributeDescription("breed", .string)]),
        EntityDescription("Cat", parent: "Animal"),
        EntityDescription(
            "Person",
            attributes: [
                AttributeDescription("name", .string), AttributeDescription("height", .double),
                AttributeDescription("photo", .binary, allowsExternalBinaryDataStorage: true),
                AttributeDescription("mood", .integer32, isTransient: true, defaultValue: 7),
            ],
            relationships: [
                RelationshipDescription("pets", to: "Animal", inverse: "owner", isToMany: true),
                RelationshipDescription("clubs", to: "Club", inverse: "people", isToMany: true),
                RelationshipDescription("home", to: "Club", inverse: nil),
                RelationshipDescription("spouse", to: "Person", inverse: "spouse"),
                RelationshipDescription("guardian", to: "Person", inverse: "wards", deleteRule: .deny),
                RelationshipDescription("wards", to: "Person", inverse: "guardian", isToMany: true),
            ]),
        EntityDescription(
            "Club", attributes: [AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("people", to: "Person", inverse: "clubs", isToMany: true)]),
    ]

    static let classes: [ManagedObject.Type] = [Animal.self, Dog.self, Cat.self, Person.self, Club.self]

    static func makeStore(isRecording: Bool = false) throws -> TestStore {
        try TestStore(entities, classes: classes, isRecording: isRecording) { $0.externalStorageThreshold = 1000 }
    }
}

extension TestStore {
    /// Returns a context of another container on the same file, which shares nothing in memory with this one.
    func foreignContext(_ classes: [ManagedObject.Type] = Household.classes) throws -> ManagedObjectContext {
        var description = container.persistentStoreDescription
        description.busyTimeout = 5
        return try PersistentContainer(
            name: "Foreign", managedObjectModel: container.managedObjectModel, storeDescription: description,
            classes: classes
        ).newBackgroundContext()
    }

    /// Saves a person with a club, and returns both in a context of their own.
    func makeMember(in context: ManagedObjectContext) throws -> (person: Person, club: Club) {
        let maker = container.newBackgroundContext()
        let person = Person(context: maker)
        person.name = "Ann"
        let club = Club(context: maker)
        club.name = "Chess"
        person.clubs.add(club)
        try maker.save()
        return (
            try context.fetch(FetchRequest<Person>())[0], try context.fetch(FetchRequest<Club>())[0]
        )
    }
}
