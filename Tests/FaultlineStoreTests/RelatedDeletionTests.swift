import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("No relationship refers to a missing object")
struct RelatedDeletionTests {
    private func expectNoneDangling(_ store: TestStore) throws {
        let owners = try store.sql(
            "SELECT ZOWNER FROM ZANIMAL WHERE ZOWNER > 0 AND ZOWNER NOT IN (SELECT Z_PK FROM ZPERSON)")
        #expect(owners.isEmpty)
        let pairs = try store.sql(
            """
            SELECT Z_4CLUBS, Z_5PEOPLE FROM Z_4PEOPLE
            WHERE Z_5PEOPLE NOT IN (SELECT Z_PK FROM ZPERSON) OR Z_4CLUBS NOT IN (SELECT Z_PK FROM ZCLUB)
            """)
        #expect(pairs.isEmpty)
    }

    @Test("Relating objects to one that another writer has deleted is a conflict")
    func deletedBefore() throws {
        for usesJoin in [false, true] {
            let store = try Household.makeStore()
            let person = Person(context: store.context)
            let club = Club(context: store.context)
            try store.context.save()
            let other = store.container.newBackgroundContext()
            for found in try other.fetch(FetchRequest<Person>()) { other.delete(found) }
            try other.save()

            if usesJoin { club.people.add(person) } else { Dog(context: store.context).owner = person }
            let error = try #require(throws: StoreError.self) { try store.context.save() }
            #expect(error.code == .conflict)
            #expect(error.objectID == person.objectID)
            #expect(
                error.message
                    == "Saving Person \(person.objectID): another writer deleted it; release it and everything that refers to it."
            )
            try expectNoneDangling(store)
            store.context.rollback()
            try store.context.save()
        }
    }

    @Test("Deleting an object to which another writer has related others is a conflict")
    func deletedAfter() throws {
        for usesJoin in [false, true] {
            let store = try Household.makeStore()
            let person = Person(context: store.context)
            let club = Club(context: store.context)
            try store.context.save()
            #expect(person.pets.isEmpty)
            #expect(person.clubs.isEmpty)
            let foreign = try store.foreignContext()
            let theirs = try foreign.fetch(FetchRequest<Person>())[0]
            if usesJoin {
                theirs.clubs.add(try foreign.fetch(FetchRequest<Club>())[0])
            } else {
                Dog(context: foreign).owner = theirs
            }
            try foreign.save()

            store.context.delete(person)
            let error = try #require(throws: StoreError.self) { try store.context.save() }
            #expect(error.code == .conflict)
            store.context.rollback()
            store.context.refreshAllObjects()
            store.context.delete(person)
            try store.context.save()
            try expectNoneDangling(store)
            #expect(try store.sql("SELECT COUNT(*) FROM ZPERSON") == ["0"])
            #expect(club.people.isEmpty)
        }
    }

    @Test("Writers that relate objects to the same object do not conflict")
    func sideBySide() throws {
        let store = try Household.makeStore()
        let person = Person(context: store.context)
        try store.context.save()
        let foreign = try store.foreignContext()
        let theirs = try foreign.fetch(FetchRequest<Person>())[0]
        for round in 0..<3 {
            for (context, owner) in [(store.context, person), (foreign, theirs)] {
                let dog = Dog(context: context)
                dog.name = "\(round)"
                dog.owner = owner
                try context.save()
            }
        }
        #expect(try store.sql("SELECT COUNT(*) FROM ZANIMAL WHERE ZOWNER = 1") == ["6"])
        #expect(try store.sql("SELECT Z_OPT FROM ZPERSON") == ["7"])
        store.context.refresh(person, mergeChanges: false)
        person.name = "New"
        try store.context.save()
        #expect(try store.sql("SELECT ZNAME, Z_OPT FROM ZPERSON") == ["New|8"])
    }

    @Test("Setting a relationship to an object being deleted leaves it nil")
    func toDeleted() throws {
        let store = try Household.makeStore()
        let person = Person(context: store.context)
        let dog = Dog(context: store.context)
        try store.context.save()
        store.context.delete(person)
        dog.owner = person
        #expect(dog.owner == nil)
        try store.context.save()
        #expect(dog.owner == nil)
        #expect(try store.sql("SELECT ZOWNER FROM ZANIMAL") == ["NULL"])

        // The same without an inverse, and with an object that was never saved.
        let member = Person(context: store.context)
        let club = Club(context: store.context)
        member[Person.home] = club
        store.context.delete(club)
        #expect(member[Person.home] == nil)
        try store.context.save()
        #expect(try store.sql("SELECT ZHOME FROM ZPERSON") == ["NULL"])
    }

    @Test("A relationship to an object that is no longer in its context is not saved")
    func toDetached() throws {
        let store = try Household.makeStore()
        let dog = Dog(context: store.context)
        let club = Club(context: store.context)
        let person = Person(context: store.context)
        try store.context.save()
        store.context.delete(person)
        try store.context.save()
        dog.owner = person
        #expect(
            performing { try store.context.save() }
                == "Saving Dog \(dog.objectID): 'owner' refers to a Person that is no longer in its context, because it was deleted, rolled back or reset; set it to an object that exists."
        )
        dog.owner = nil
        club.people.add(person)
        #expect(performing { try store.context.save() }.contains("'people' refers to a Person that is no longer"))
        club.people.remove(person)
        try store.context.save()
        try expectNoneDangling(store)
    }

    @Test("A relationship that is its own inverse can be moved from the object itself to another")
    func ownInverse() throws {
        let store = try Household.makeStore()
        let (one, two) = (Person(context: store.context), Person(context: store.context))
        one.spouse = one
        try store.context.save()
        one.spouse = two
        #expect(one.spouse === two)
        #expect(two.spouse === one)
        try store.context.save()
        #expect(try store.sql("SELECT Z_PK, ZSPOUSE FROM ZPERSON ORDER BY 1") == ["1|2", "2|1"])
    }

    @Test("The deny rule ignores objects that are deleted in the same save")
    func denial() throws {
        let store = try Household.makeStore()
        let (ward, guardian) = (Person(context: store.context), Person(context: store.context))
        try store.context.save()
        ward[Person.guardian] = guardian
        store.context.delete(ward)
        store.context.delete(guardian)
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM ZPERSON") == ["0"])
    }
}
