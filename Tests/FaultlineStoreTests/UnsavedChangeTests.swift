import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Unsaved changes are saved or reverted completely")
struct UnsavedChangeTests {
    @Test("The last add or remove of a member counts if the relationship was not read")
    func unloadedMembers() throws {
        let store = try Household.makeStore()
        let (person, club) = try store.makeMember(in: store.context)
        // A member that is added and then removed is not in the relationship.
        #expect(person.clubs.isFault)
        person.clubs.add(club)
        person.clubs.remove(club)
        #expect(person.clubs.isFault)
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM Z_4PEOPLE") == ["0"])
        #expect(person.clubs.isEmpty)
        #expect(club.people.isEmpty)

        // An object that is removed and then added is in the relationship.
        let other = store.container.newBackgroundContext()
        let (again, there) = (
            try other.fetch(FetchRequest<Person>())[0], try other.fetch(FetchRequest<Club>())[0]
        )
        again.clubs.remove(there)
        again.clubs.add(there)
        try other.save()
        #expect(try store.sql("SELECT COUNT(*) FROM Z_4PEOPLE") == ["1"])
        #expect(Array(again.clubs) == [there])
        #expect(Array(there.people) == [again])
    }

    @Test("Members changed before the relationship was read appear once, and can be removed again")
    func loadingAfterChanges() throws {
        let store = try Household.makeStore()
        let (person, club) = try store.makeMember(in: store.context)
        person.clubs.add(club)
        #expect(Array(person.clubs) == [club], "added to what the store has: once")
        person.clubs.remove(club)
        #expect(person.clubs.isEmpty)
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM Z_4PEOPLE") == ["0"])
        person.clubs.add(club)
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM Z_4PEOPLE") == ["1"])
    }

    @Test("An object refreshed without its changes can be changed and saved again")
    func refreshTwice() throws {
        let store = try Household.makeStore()
        let person = Person(context: store.context)
        person.name = "a"
        try store.context.save()
        person.name = "b"
        store.context.refresh(person, mergeChanges: false)
        #expect(person.name == "a")
        #expect(!store.context.hasChanges)
        person.name = "c"
        #expect(store.context.updatedObjects == [person])
        try store.context.save()
        #expect(try store.sql("SELECT ZNAME, Z_OPT FROM ZPERSON") == ["c|2"])
    }

    @Test("A deleted object stays deleted when it is refreshed", arguments: [true, false])
    func refreshDeleted(_ mergesChanges: Bool) throws {
        let store = try Household.makeStore()
        let (_, club) = try store.makeMember(in: store.context)
        store.context.delete(club)
        store.context.refresh(club, mergeChanges: mergesChanges)
        store.context.refreshAllObjects()
        #expect(store.context.deletedObjects == [club])
        try store.context.save()
        #expect(try store.sql("SELECT (SELECT COUNT(*) FROM ZCLUB), (SELECT COUNT(*) FROM Z_4PEOPLE)") == ["0|0"])
    }

    @Test("After a conflict with another process, a refresh reads what that process wrote")
    func refreshAfterConflict() throws {
        let store = try Household.makeStore()
        let person = Person(context: store.context)
        person.name = "first"
        try store.context.save()
        let foreign = try store.foreignContext()
        try foreign.fetch(FetchRequest<Person>())[0].name = "theirs"
        try foreign.save()

        person.name = "mine"
        let error = try #require(throws: StoreError.self) { try store.context.save() }
        #expect(error.code == .conflict)
        store.context.refresh(person, mergeChanges: false)
        #expect(person.name == "theirs")
        person.name = "mine"
        try store.context.save()
        #expect(try store.sql("SELECT ZNAME, Z_OPT FROM ZPERSON") == ["mine|3"])
    }

    @Test("Refreshing one end of a relationship reverts the change at the other end too")
    func refreshOneEnd() throws {
        let store = try Household.makeStore()
        let people = (0..<2).map { _ in Person(context: store.context) }
        let club = Club(context: store.context)
        let dog = Dog(context: store.context)
        dog.owner = people[0]
        try store.context.save()

        for end in [people[0], club] {
            people[0].clubs.add(club)
            store.context.refresh(end, mergeChanges: false)
            #expect(people[0].clubs.isEmpty)
            #expect(club.people.isEmpty)
        }
        dog.owner = people[1]
        store.context.refresh(dog, mergeChanges: false)
        #expect(dog.owner === people[0])
        #expect(people.map(\.pets.count) == [1, 0])
        people[0].spouse = people[1]
        store.context.refresh(people[0], mergeChanges: false)
        #expect(people.map(\.spouse) == [nil, nil])
        try store.context.save()
        #expect(
            try store.sql("SELECT COUNT(*), COUNT(ZSPOUSE), (SELECT COUNT(*) FROM Z_4PEOPLE) FROM ZPERSON") == ["2|0|0"]
        )
        #expect(
            try store.sql("SELECT ZOWNER FROM ZANIMAL") == [
                people[0].objectID.uriRepresentation().lastPathComponent.dropFirst().description
            ])
    }

    @Test("Equivalent text with other code points is a change")
    func codePoints() throws {
        let store = try Household.makeStore()
        let person = Person(context: store.context)
        person.name = "e\u{301}"
        try store.context.save()
        person.name = "\u{e9}"
        try store.context.save()
        #expect(try store.sql("SELECT hex(ZNAME), Z_OPT FROM ZPERSON") == ["C3A9|2"])
        person.name = "\u{e9}"
        try store.context.save()
        #expect(try store.sql("SELECT Z_OPT FROM ZPERSON") == ["2"], "the same again is none")
    }

    @Test("Negative zero becomes zero, in memory as in the file")
    func negativeZero() throws {
        let store = try Household.makeStore()
        let person = Person(context: store.context)
        person[Person.height] = -0.0
        try store.context.save()
        #expect(person[Person.height]?.sign == .plus)
        let found = try store.foreignContext().fetch(FetchRequest<Person>())[0]
        #expect(found[Person.height]?.sign == .plus)
        person[Person.height] = -0.0
        try store.context.save()
        #expect(try store.sql("SELECT ZHEIGHT, Z_OPT FROM ZPERSON") == ["0.0|1"])
    }

    @Test("NaN becomes nil, in memory as in the file")
    func notANumber() throws {
        let store = try TestStore(
            [
                EntityDescription(
                    "N",
                    attributes: [
                        AttributeDescription("must", .double, isOptional: false), AttributeDescription("may", .double),
                    ])
            ], classes: [])
        let object = store.context.insertNewObject(forEntityName: "N")
        object["must"] = 1.0
        object["may"] = Double.nan
        try store.context.save()
        #expect(object["may"] == nil)
        #expect(try store.sql("SELECT ZMAY FROM ZN") == ["NULL"])
        object["must"] = Double.nan
        #expect(
            performing { try store.context.save() }
                == "Saving N \(object.objectID): 'must' is not a number (NaN), which SQLite stores as NULL, and is not optional; set a number, or make it optional in the model."
        )
        #expect(try store.sql("SELECT ZMUST FROM ZN") == ["1.0"])
    }

    @Test("A transient attribute starts with its default and can be set like any other")
    func transientDefault() throws {
        let store = try Household.makeStore()
        let person = Person(context: store.context)
        #expect(person[Person.mood] == 7)
        person[Person.mood] = 5
        #expect(person[Person.mood] == 5)
        try store.context.save()
        #expect(person[Person.mood] == 5)
        person[Person.mood] = nil
        #expect(person[Person.mood] == nil)
    }
}
