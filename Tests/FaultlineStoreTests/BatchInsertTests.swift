import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Batch insertions update existing objects and set relationships")
struct BatchInsertTests {
    private static let entities = [
        EntityDescription(
            "Track",
            attributes: [
                AttributeDescription("code", .string), AttributeDescription("title", .string),
                AttributeDescription("plays", .integer32, defaultValue: 7),
                AttributeDescription("cover", .binary, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [RelationshipDescription("album", to: "Album", inverse: "tracks")],
            uniquenessConstraints: [["code"], ["title", "plays"]]),
        EntityDescription(
            "Album", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("tracks", to: "Track", inverse: "album", isToMany: true, isOrdered: true),
                RelationshipDescription("sleeve", to: "Sleeve", inverse: "album"),
            ]),
        EntityDescription(
            "Sleeve", attributes: [AttributeDescription("color", .string)],
            relationships: [RelationshipDescription("album", to: "Album", inverse: "sleeve")]),
    ]

    private func makeStore(_ policy: MergePolicy = .error, level: Int = 0, isRecording: Bool = false) throws
        -> TestStore
    {
        let store = try TestStore(Self.entities, classes: [], isRecording: isRecording, level: level)
        store.context.mergePolicy = policy
        try store.context.execute(
            BatchInsertRequest(entityName: "Track", objects: [["code": "A", "title": "Old", "plays": 5]]))
        return store
    }

    private func rows(_ store: TestStore) throws -> [String] {
        try store.sql("SELECT Z_PK, Z_OPT, ZCODE, ZTITLE, ZPLAYS, ZALBUM FROM ZTRACK ORDER BY Z_PK")
    }

    @Test(
        "An object whose unique values exist is updated, replaced or ignored, as the merge policy says",
        arguments: [
            (MergePolicy.mergeByPropertyObjectTrump, "1|2|A|New|5|NULL", 2),
            (.overwrite, "1|2|A|New|7|NULL", 2),
            (.mergeByPropertyStoreTrump, "1|1|A|Old|5|NULL", 1),
            (.rollback, "1|1|A|Old|5|NULL", 1),
        ])
    func upserts(_ policy: MergePolicy, _ row: String, _ count: Int) throws {
        let store = try makeStore(policy, isRecording: true)
        let result = try store.context.execute(
            BatchInsertRequest(entityName: "Track", objects: [["code": "A", "title": "New"], ["code": "B"]]))
        #expect(try rows(store) == [row, "2|1|B|NULL|7|NULL"])
        #expect(result.count == count)
        #expect(result.objectIDs.map { $0.uriRepresentation().lastPathComponent } == Array(["p2", "p1"].prefix(count)))
        #expect(try store.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Track'") == ["2"])
        guard case .save(let save) = try #require(store.events.last { $0.kind == .save }).detail else {
            Issue.record("The event is no save.")
            return
        }
        #expect(save.inserted == 1 && save.updated == UInt32(count - 1) && save.isBatchRequest)
    }

    @Test("An update of an existing object is one statement, and the unused key goes to the next object")
    func statements() throws {
        let store = try makeStore(.mergeByPropertyObjectTrump, level: 1)
        _ = store.lines.take()
        try store.context.execute(
            BatchInsertRequest(
                entityName: "Track", objects: [["code": "A", "plays": 9], ["code": "C"], ["code": "C"]]))
        #expect(try rows(store) == ["1|2|A|Old|9|NULL", "2|2|C|NULL|7|NULL"])
        #expect(
            store.lines.take().filter { $0.contains("INSERT INTO") } == [
                "CoreData: sql: INSERT INTO ZTRACK(Z_PK, Z_ENT, Z_OPT, ZCODE, ZCOVER, ZPLAYS, ZTITLE, ZALBUM) VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(ZCODE) DO UPDATE SET ZCODE = excluded.ZCODE, ZPLAYS = excluded.ZPLAYS, Z_OPT = Z_OPT + 1 ON CONFLICT(ZTITLE, ZPLAYS) DO UPDATE SET ZCODE = excluded.ZCODE, ZPLAYS = excluded.ZPLAYS, Z_OPT = Z_OPT + 1 RETURNING Z_ENT, Z_PK",
                "CoreData: sql: INSERT INTO ZTRACK(Z_PK, Z_ENT, Z_OPT, ZCODE, ZCOVER, ZPLAYS, ZTITLE, ZALBUM) VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(ZCODE) DO UPDATE SET ZCODE = excluded.ZCODE, Z_OPT = Z_OPT + 1 ON CONFLICT(ZTITLE, ZPLAYS) DO UPDATE SET ZCODE = excluded.ZCODE, Z_OPT = Z_OPT + 1 RETURNING Z_ENT, Z_PK",
                "CoreData: sql: INSERT INTO ZTRACK(Z_PK, Z_ENT, Z_OPT, ZCODE, ZCOVER, ZPLAYS, ZTITLE, ZALBUM) VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(ZCODE) DO UPDATE SET ZCODE = excluded.ZCODE, Z_OPT = Z_OPT + 1 ON CONFLICT(ZTITLE, ZPLAYS) DO UPDATE SET ZCODE = excluded.ZCODE, Z_OPT = Z_OPT + 1 RETURNING Z_ENT, Z_PK",
            ])
    }

    @Test("Contexts see updated rows after a refresh, and saves of older versions conflict")
    func versions() throws {
        let store = try makeStore(.mergeByPropertyObjectTrump)
        let reader = store.container.newBackgroundContext()
        let track = try reader.fetch(FetchRequest<ManagedObject>(entityName: "Track"))[0]
        #expect(track["title"] as? String == "Old")
        let result = try store.context.execute(
            BatchInsertRequest(entityName: "Track", objects: [["code": "A", "title": "New"]]))
        track["plays"] = 1
        let error = #expect(throws: StoreError.self) { try reader.save() }
        #expect(error?.code == .conflict)
        reader.rollback()
        reader.mergeChanges(fromContextDidSave: SavedObjectIDs(updated: Set(result.objectIDs)))
        #expect(track["title"] as? String == "New")
    }

    @Test("A violation names the object that has the value, and nothing is inserted")
    func violations() throws {
        let store = try makeStore()
        let old = try store.context.fetch(FetchRequest<ManagedObject>(entityName: "Track"))[0].objectID
        let error = try #require(throws: StoreError.self) {
            try store.context.execute(
                BatchInsertRequest(
                    entityName: "Track", objects: [["code": "B"], ["code": "C", "title": "Old", "plays": 5]]))
        }
        #expect(error.code == .constraint && error.objectID == old)
        #expect(error.constraintConflicts.map(\.constraint) == [["title", "plays"]])
        #expect(
            error.message
                == "Inserting Track: 'title' and 'plays' must be unique, and Track \(old) has the same values; omit the dictionary, or set the context's mergePolicy."
        )
        #expect(try rows(store) == ["1|1|A|Old|5|NULL"])
    }

    @Test("No policy changes an object of another entity of the tree, but one of a subentity")
    func trees() throws {
        let entities = [
            EntityDescription(
                "Animal", attributes: [AttributeDescription("name", .string)], uniquenessConstraints: [["name"]]),
            EntityDescription("Dog", parent: "Animal", attributes: [AttributeDescription("breed", .string)]),
            EntityDescription("Cat", parent: "Animal", attributes: [AttributeDescription("lives", .integer16)]),
        ]
        let store = try TestStore(entities, classes: [])
        store.context.mergePolicy = .mergeByPropertyObjectTrump
        let cat = try store.context.execute(BatchInsertRequest(entityName: "Cat", objects: [["name": "Tom"]]))
            .objectIDs[0]
        let result = try store.context.execute(BatchInsertRequest(entityName: "Animal", objects: [["name": "Tom"]]))
        #expect(result.objectIDs == [cat] && result.objectIDs[0].entityName == "Cat")
        #expect(
            performing {
                try store.context.execute(
                    BatchInsertRequest(entityName: "Dog", objects: [["name": "Tom", "breed": "Terrier"]]))
            }
                == "Inserting Dog: 'name' must be unique, and Cat \(cat) has the same value; no merge policy changes an object of another entity, so omit the dictionary."
        )
        #expect(try store.sql("SELECT Z_ENT, Z_OPT, ZBREED FROM ZANIMAL") == ["2|2|NULL"])
    }

    @Test("A to-one relationship is set by the ID of a saved object")
    func relationships() throws {
        let store = try makeStore(.mergeByPropertyObjectTrump)
        let album = store.context.insertNewObject(forEntityName: "Album")
        try store.context.save()
        let tracks = try store.context.execute(
            BatchInsertRequest(
                entityName: "Track",
                objects: [
                    ["code": "A", "album": .object(album.objectID)], ["code": "B", "album": .object(album.objectID)],
                ]
            )
        ).objectIDs
        #expect(try rows(store) == ["1|2|A|Old|5|1", "2|1|B|NULL|7|1"])
        store.context.mergeChanges(
            fromContextDidSave: SavedObjectIDs(updated: Set(tracks).union([album.objectID])))
        let members = try #require(album["tracks"] as? OrderedToMany<ManagedObject>)
        #expect(Set(members.map(\.objectID)) == Set(tracks))
    }

    @Test("A relationship that a batch insert cannot set is refused with its reason")
    func refusals() throws {
        let store = try makeStore()
        let context = store.context
        let (album, sleeve) = (
            context.insertNewObject(forEntityName: "Album"), context.insertNewObject(forEntityName: "Sleeve")
        )
        let temporary = context.insertNewObject(forEntityName: "Album")
        try context.obtainPermanentIDs(for: [album, sleeve])
        context.delete(temporary)
        func refusal(_ entity: String, _ values: [String: AttributeValue]) -> String {
            performing { try context.execute(BatchInsertRequest(entityName: entity, objects: [values])) }
        }
        #expect(
            refusal("Track", ["album": 3])
                == "Inserting Track: 'album' is a relationship and cannot be set to 3; pass .object(_:) with the ID of a saved Album of the store."
        )
        #expect(
            refusal("Track", ["album": .object(sleeve.objectID)])
                == "Inserting Track: 'album' is a relationship and cannot be set to \(sleeve.objectID.uriRepresentation()); pass .object(_:) with the ID of a saved Album of the store."
        )
        #expect(
            refusal("Track", ["album": .object(temporary.objectID)]).hasSuffix(
                "pass .object(_:) with the ID of a saved Album of the store."))
        #expect(
            refusal("Album", ["tracks": .object(sleeve.objectID)])
                == "Inserting Album: 'tracks' is a to-many relationship, which a batch insert cannot set; set the other side's to-one relationship, or insert objects with a context."
        )
        #expect(
            refusal("Album", ["sleeve": .object(sleeve.objectID)])
                == "Inserting Album: 'sleeve' is one-to-one with 'Sleeve.album', which would have to change too; insert objects with a context."
        )
        #expect(
            refusal("Track", ["code": "B", "album": .object(album.objectID)])
                == "Inserting Track: 'album' is set to Album \(album.objectID), which is no longer in the store; pass the ID of an object that exists."
        )
        #expect(try rows(store) == ["1|1|A|Old|5|NULL"])
    }

    @Test("A result has what its request asks for", arguments: BatchResultType.allCases)
    func resultTypes(_ type: BatchResultType) throws {
        let store = try makeStore()
        var insertion = BatchInsertRequest(entityName: "Track", objects: [["code": "B"]])
        insertion.resultType = type
        let all = FetchRequest<ManagedObject>(entityName: "Track")
        var update = BatchUpdateRequest(fetchRequest: all, propertiesToUpdate: ["plays": .value(1)])
        update.resultType = type
        var deletion = BatchDeleteRequest(fetchRequest: all)
        deletion.resultType = type
        let results = [
            try store.context.execute(insertion), try store.context.execute(update),
            try store.context.execute(deletion),
        ]
        #expect(results.map(\.count) == [1, 2, 2])
        #expect(results.map(\.objectIDs.count) == (type == .objectIDs ? [1, 2, 2] : [0, 0, 0]))
    }

    @Test(
        "A large value of an ignored or replaced row leaves no file behind",
        arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite])
    func largeValues(_ policy: MergePolicy) throws {
        let store = try makeStore(policy)
        let folder = store.folder.appendingPathComponent(".Test_SUPPORT/_EXTERNAL_DATA")
        func files() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).count) ?? 0 }
        func insert(_ values: [String: AttributeValue]) throws {
            try store.context.execute(BatchInsertRequest(entityName: "Track", objects: [values]))
        }
        try insert(["code": "B", "cover": .binary(Data(count: 1 << 20))])
        #expect(files() == 1)
        try insert(["code": "B", "cover": .binary(Data(repeating: 1, count: 1 << 20))])
        #expect(files() == 1)
        let track = try store.container.newBackgroundContext().fetch(
            FetchRequest<ManagedObject>(entityName: "Track", predicate: PropertyPath("code") == "B"))[0]
        #expect((track["cover"] as? Data)?.first == (policy == .mergeByPropertyStoreTrump ? 0 : 1))
        try insert(["code": "B", "plays": 1])
        #expect(files() == (policy == .overwrite ? 0 : 1))
    }
}
