import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Uniqueness constraints are enforced")
struct UniquenessTests {
    private static let entities = [
        EntityDescription(
            "Track",
            attributes: [
                AttributeDescription("code", .string), AttributeDescription("title", .string),
                AttributeDescription("plays", .integer32, defaultValue: 0), AttributeDescription("rating", .integer32),
            ],
            relationships: [
                RelationshipDescription("album", to: "Album", inverse: "tracks"),
                RelationshipDescription("notes", to: "Note", inverse: "track", isToMany: true),
            ], uniquenessConstraints: [["code"]]),
        EntityDescription(
            "Album", attributes: [AttributeDescription("artist", .string), AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("tracks", to: "Track", inverse: "album", isToMany: true)],
            uniquenessConstraints: [["artist", "name"]]),
        EntityDescription(
            "Note", attributes: [AttributeDescription("text", .string)],
            relationships: [
                RelationshipDescription("track", to: "Track", inverse: "notes"),
                RelationshipDescription("seeAlso", to: "Track", inverse: nil),
            ]),
    ]

    private func makeStore(_ policy: MergePolicy = .error) throws -> TestStore {
        let store = try TestStore(Self.entities, classes: [])
        let maker = store.container.newBackgroundContext()
        let track = maker.insertNewObject(forEntityName: "Track")
        (track["code"], track["title"], track["plays"]) = ("A", "Old", 5)
        let note = maker.insertNewObject(forEntityName: "Note")
        note["text"] = "old"
        note["track"] = track
        try maker.save()
        store.context.mergePolicy = policy
        return store
    }

    private func track(_ context: ManagedObjectContext, _ code: String, _ title: String? = nil) -> ManagedObject {
        let track = context.insertNewObject(forEntityName: "Track")
        track["code"] = code
        track["title"] = title
        return track
    }

    private func tracks(_ context: ManagedObjectContext) throws -> [ManagedObject] {
        Array(
            try context.fetch(FetchRequest<ManagedObject>(entityName: "Track", sortDescriptors: [.ascending("code")])))
    }

    private func rows(_ store: TestStore) throws -> [String] {
        try store.sql("SELECT Z_PK, ZCODE, ZTITLE, ZPLAYS, ZRATING FROM ZTRACK ORDER BY ZCODE")
    }

    @Test("The file has Core Data's unique indexes")
    func indexes() throws {
        let store = try makeStore()
        #expect(
            try store.sql("SELECT sql FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE%' ORDER BY name") == [
                "CREATE UNIQUE INDEX Z_Album_UNIQUE_artist_name ON ZALBUM (ZARTIST COLLATE BINARY ASC, ZNAME COLLATE BINARY ASC)",
                "CREATE UNIQUE INDEX Z_Track_UNIQUE_code ON ZTRACK (ZCODE COLLATE BINARY ASC)",
            ])
    }

    @Test("Without a policy, the save fails with the conflicting objects")
    func error() throws {
        let store = try makeStore()
        let old = try tracks(store.context)[0]
        let new = track(store.context, "A", "New")
        let album = store.context.insertNewObject(forEntityName: "Album")
        let error = try #require(throws: StoreError.self) { try store.context.save() }
        #expect(error.code == .constraint)
        #expect(error.objectID == new.objectID)
        #expect(
            error.message
                == "Saving Track \(new.objectID): 'code' must be unique, and Track \(old.objectID) has the same value; change one of the two, or set a merge policy."
        )
        let conflict = try #require(error.constraintConflicts.first)
        #expect(error.constraintConflicts.count == 1)
        #expect(conflict.constraint == ["code"])
        #expect(conflict.constraintValues["code"] as? String == "A")
        #expect(conflict.databaseObjectID == old.objectID)
        #expect(conflict.databaseSnapshot?["title"] as? String == "Old")
        #expect(conflict.conflictingObjectIDs == [new.objectID])
        #expect(conflict.conflictingSnapshots.first?["title"] as? String == "New")
        #expect(new.isInserted && album.isInserted)
        #expect(try rows(store) == ["1|A|Old|5|NULL"])
        new["code"] = "B"
        try store.context.save()
        #expect(try store.sql("SELECT ZCODE FROM ZTRACK ORDER BY ZCODE") == ["A", "B"])
    }

    @Test(
        "A new object merges with the existing one, with the values that the policy prefers",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, "1|A|Old|5|3", ["old", "new"]),
            (.mergeByPropertyObjectTrump, "1|A|New|0|3", ["old", "new"]), (.overwrite, "1|A|New|0|3", ["new"]),
            (.rollback, "1|A|Old|5|NULL", ["old"]),
        ])
    func upsert(_ policy: MergePolicy, _ expected: String, _ notes: [String]) throws {
        let store = try makeStore(policy)
        let context = store.context
        let new = track(context, "A", "New")
        new["rating"] = 3
        let album = context.insertNewObject(forEntityName: "Album")
        new["album"] = album
        let note = context.insertNewObject(forEntityName: "Note")
        note["text"] = "new"
        note["track"] = new
        let reference = context.insertNewObject(forEntityName: "Note")
        reference["seeAlso"] = new
        if policy == .rollback { context.delete(reference) }
        try context.save()
        #expect(try rows(store) == [expected])
        #expect(
            try store.sql("SELECT ZTEXT FROM ZNOTE WHERE ZTRACK = 1 ORDER BY ZTEXT DESC").sorted() == notes.sorted())
        let kept = try tracks(context)[0]
        #expect(context.registeredObject(for: new.objectID) == nil)
        if policy != .rollback {
            #expect(reference["seeAlso"] as? ManagedObject === kept)
            #expect(note["track"] as? ManagedObject === kept)
            #expect(try store.sql("SELECT COUNT(*) FROM ZTRACK WHERE ZALBUM = 1") == ["1"])
            #expect(kept["album"] as? ManagedObject === album)
        }
        #expect(!context.hasChanges)
    }

    @Test("Imported objects merge with existing ones, and the others are inserted")
    func manyUpserts() throws {
        let store = try makeStore(.mergeByPropertyObjectTrump)
        for round in 0..<3 {
            let context = store.container.newBackgroundContext()
            context.mergePolicy = .mergeByPropertyObjectTrump
            for number in 0..<100 { _ = track(context, "\(number + round * 50)", "round \(round)") }
            try context.save()
        }
        #expect(
            try store.sql("SELECT ZTITLE, COUNT(*) FROM ZTRACK GROUP BY ZTITLE ORDER BY ZTITLE") == [
                "Old|1", "round 0|50", "round 1|50", "round 2|100",
            ])
    }

    @Test(
        "Two new objects with the same values become one",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, "First"), (.mergeByPropertyObjectTrump, "Second"),
            (.overwrite, "Second"), (.rollback, "First"),
        ])
    func twins(_ policy: MergePolicy, _ title: String) throws {
        let store = try makeStore(policy)
        _ = track(store.context, "Z", "First")
        _ = track(store.context, "Z", "Second")
        try store.context.save()
        #expect(try store.sql("SELECT ZTITLE FROM ZTRACK WHERE ZCODE = 'Z'") == [title])
    }

    @Test(
        "The policy decides whether an object that takes another's value replaces it",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, ["1|A|Old|5|NULL", "2|B|Changed|0|NULL"]),
            (.mergeByPropertyObjectTrump, ["2|A|Changed|0|NULL"]), (.overwrite, ["2|A|Changed|0|NULL"]),
            (.rollback, ["1|A|Old|5|NULL", "2|B|B|0|NULL"]),
        ])
    func update(_ policy: MergePolicy, _ expected: [String]) throws {
        let store = try makeStore(policy)
        let other = track(store.context, "B", "B")
        try store.context.save()
        (other["code"], other["title"]) = ("A", "Changed")
        try store.context.save()
        #expect(try rows(store) == expected)
        #expect(other["code"] as? String == expected.last?.split(separator: "|")[1].description)
    }

    @Test(
        "Objects can exchange their values, and take the value of a deleted object",
        arguments: MergePolicy.allCases)
    func exchange(_ policy: MergePolicy) throws {
        let store = try makeStore(policy)
        let context = store.context
        let first = try tracks(context)[0]
        let second = track(context, "B", "B")
        try context.save()
        (first["code"], second["code"]) = ("B", "A")
        try context.save()
        #expect(try store.sql("SELECT ZCODE FROM ZTRACK ORDER BY Z_PK") == ["B", "A"])
        context.delete(second)
        let third = track(context, "A", "Third")
        try context.save()
        #expect(try store.sql("SELECT Z_PK, ZCODE FROM ZTRACK ORDER BY Z_PK") == ["1|B", "3|A"])
        #expect(!third.objectID.isTemporaryID)
    }

    @Test("A compound constraint allows equal parts, and nil values never conflict")
    func compound() throws {
        let store = try makeStore()
        let context = store.context
        for (artist, name) in [("a", "1"), ("a", "2"), ("b", "1"), ("a", nil), ("a", nil)] as [(String, String?)] {
            let album = context.insertNewObject(forEntityName: "Album")
            (album["artist"], album["name"]) = (artist, name)
        }
        try context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM ZALBUM") == ["5"])
        let twin = context.insertNewObject(forEntityName: "Album")
        (twin["artist"], twin["name"]) = ("a", "2")
        #expect(performing { try context.save() }.contains("'artist' and 'name' must be unique, and Album"))
        #expect(performing { try context.save() }.contains("has the same values; change one of the two"))
    }

    @Test("A value that another context saved in the meantime conflicts too")
    func race() throws {
        let store = try makeStore(.mergeByPropertyObjectTrump)
        let other = store.container.newBackgroundContext()
        let mine = track(store.context, "R", "mine")
        _ = track(other, "R", "theirs")
        try other.save()
        try store.context.save()
        #expect(try store.sql("SELECT ZTITLE FROM ZTRACK WHERE ZCODE = 'R'") == ["mine"])
        #expect(store.context.registeredObject(for: mine.objectID) == nil)
    }
}
