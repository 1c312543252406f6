import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Attributes change with a model's version, and their values follow")
struct AttributeMigrationTests {
    private func note(
        _ attributes: AttributeDescription..., unique: [[String]] = [], indexes: [FetchIndexDescription] = []
    ) -> [EntityDescription] {
        [EntityDescription("Note", attributes: attributes, indexes: indexes, uniquenessConstraints: unique)]
    }

    private static let two = "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, 1, 'a'), (5, 1, 3, NULL)"

    @Test("A new attribute has its default value in all objects, also if it is optional")
    func added() throws {
        let store = try MigratedStore(note(AttributeDescription("text", .string)), Self.two)
        try store.migrate(
            note(
                AttributeDescription("text", .string), AttributeDescription("rank", .integer16, defaultValue: 7),
                AttributeDescription("isRead", .boolean, isOptional: false, defaultValue: true),
                AttributeDescription("day", .date, defaultValue: .date(Date(timeIntervalSinceReferenceDate: 86400.5))),
                AttributeDescription("name", .string, defaultValue: "it's"),
                AttributeDescription("price", .decimal, defaultValue: .decimal(Decimal(string: "12.5")!)),
                AttributeDescription("link", .uri, defaultValue: .uri(URL(string: "https://x.org/?a='b'")!)),
                AttributeDescription(
                    "id", .uuid, defaultValue: .uuid(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!)),
                AttributeDescription("seen", .integer64)))
        let values = "7|1|86400.5|it's|12.5|https://x.org/?a='b'|00112233445566778899AABBCCDDEEFF|NULL"
        #expect(
            try store.rows(
                "SELECT Z_PK, Z_OPT, ZTEXT, ZRANK, ZISREAD, ZDAY, ZNAME, ZPRICE, ZLINK, hex(ZID), ZSEEN FROM ZNOTE")
                == ["1|1|a|\(values)", "5|3|NULL|\(values)"])
    }

    @Test("A new required attribute without a default value is refused, unless there are no objects")
    func addedRequired() throws {
        let old = note(AttributeDescription("text", .string))
        let new = note(AttributeDescription("text", .string), AttributeDescription("code", .string, isOptional: false))
        #expect(
            try MigratedStore(old, Self.two).refusal(new)
                == "Migrating STORE is refused: 'Note.code' is new, required and without a default value, so 2 Note objects (one has the primary key 1) would have no value; make it optional or give it a default value, or write a mapping model or a custom stage that sets it."
        )
        try MigratedStore(old).migrate(new)
    }

    @Test("The column of a removed attribute goes, and the other values stay")
    func removed() throws {
        for others in [[], [AttributeDescription("other", .integer32)]] {
            let store = try MigratedStore(
                [
                    EntityDescription(
                        "Note",
                        attributes: [AttributeDescription("text", .string), AttributeDescription("old", .binary)]
                            + others)
                ], Self.two)
            try store.migrate(note(AttributeDescription("text", .string)))
            #expect(try store.rows("SELECT * FROM ZNOTE") == ["1|1|1|a", "5|1|3|NULL"])
        }
    }

    @Test("A renamed attribute keeps its values, with or without other changes")
    func renamed() throws {
        for more in [[], [AttributeDescription("rank", .integer16, defaultValue: 1)]] {
            let store = try MigratedStore(
                note(
                    AttributeDescription("text", .string),
                    indexes: [FetchIndexDescription("byText", elements: [.init("text")])]), Self.two)
            try store.migrate(
                [
                    EntityDescription(
                        "Note",
                        attributes: [AttributeDescription("body", .string, renamingIdentifier: "text")] + more,
                        indexes: [FetchIndexDescription("byText", elements: [.init("body", isAscending: false)])])
                ])
            #expect(try store.rows("SELECT Z_PK, ZBODY FROM ZNOTE") == ["1|a", "5|NULL"])
        }
    }

    @Test("Two attributes can swap their names with the help of a version between")
    func swapped() throws {
        let store = try MigratedStore(
            note(AttributeDescription("a", .string), AttributeDescription("b", .string)),
            "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZA, ZB) VALUES (1, 1, 1, 'a', 'b')")
        try store.migrate(
            note(
                AttributeDescription("c", .string, renamingIdentifier: "a"),
                AttributeDescription("d", .string, renamingIdentifier: "b")))
        try store.migrate(
            note(
                AttributeDescription("b", .string, renamingIdentifier: "c"),
                AttributeDescription("a", .string, renamingIdentifier: "d")))
        #expect(try store.rows("SELECT ZB, ZA FROM ZNOTE") == ["a|b"])
    }

    @Test("Numbers become numbers of another type")
    func numbers() throws {
        func number(_ type: AttributeType) -> [EntityDescription] { note(AttributeDescription("n", type)) }
        let rows = "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 1, 1, 3), (2, 1, 1, NULL)"
        for (old, new, expected) in [
            (AttributeType.integer16, AttributeType.integer64, "3|integer"), (.integer64, .double, "3.0|real"),
            (.integer32, .decimal, "3|integer"), (.double, .integer16, "3|integer"), (.float, .double, "3.0|real"),
            (.decimal, .double, "3.0|real"),
        ] {
            let store = try MigratedStore(number(old), rows)
            let context = try store.migrate(number(new)).newBackgroundContext()
            #expect(
                try store.rows("SELECT ZN, typeof(ZN) FROM ZNOTE") == [expected, "NULL|null"], "\(old) to \(new)")
            #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")).count == 2)
        }
    }

    @Test(
        "A value that the new type cannot hold is refused, and named by its key",
        arguments: [
            (AttributeType.integer64, AttributeType.integer16, "40000"), (.double, .integer64, "1.5"),
            (.integer16, .boolean, "2"), (.double, .float, "1e300"), (.decimal, .integer32, "x'31'"),
        ])
    func narrowed(old: AttributeType, new: AttributeType, value: String) throws {
        let store = try MigratedStore(
            note(AttributeDescription("n", old)),
            "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 1, 1, 1), (9, 1, 1, \(value))")
        #expect(
            try store.refusal(note(AttributeDescription("n", new)))
                == "Migrating STORE is refused: 'Note.n' becomes \(new.rawValue), which cannot hold the values of the Note object with the primary key 9; change them in the older version first, or write a mapping model or a custom stage that converts it."
        )
        try store.rows("DELETE FROM ZNOTE WHERE Z_PK = 9")
        try store.migrate(note(AttributeDescription("n", new)))
    }

    @Test(
        "Another change of type is refused with the attribute and both types",
        arguments: [
            (AttributeType.integer64, AttributeType.string), (.string, .binary), (.date, .double), (.string, .uri),
        ])
    func otherType(old: AttributeType, new: AttributeType) throws {
        let store = try MigratedStore(note(AttributeDescription("n", old)))
        #expect(
            try store.refusal(note(AttributeDescription("n", new)))
                == "Migrating STORE is refused. No mapping can be inferred for 'Note.n': its type changes from \(old.rawValue) to \(new.rawValue), and only numeric types are converted; write a mapping model or a custom stage for it."
        )
    }

    @Test("An attribute that becomes required has its default value where it had none")
    func required() throws {
        let store = try MigratedStore(note(AttributeDescription("text", .string)), Self.two)
        try store.migrate(note(AttributeDescription("text", .string, isOptional: false, defaultValue: "-")))
        #expect(try store.rows("SELECT ZTEXT FROM ZNOTE") == ["a", "-"])
        try store.migrate(note(AttributeDescription("text", .string)))
        #expect(try store.rows("SELECT ZTEXT FROM ZNOTE") == ["a", "-"])
    }

    @Test("An attribute that becomes required without a default value is refused while an object lacks one")
    func requiredWithoutDefault() throws {
        let store = try MigratedStore(note(AttributeDescription("text", .string)), Self.two)
        let new = note(AttributeDescription("text", .string, isOptional: false))
        #expect(
            try store.refusal(new)
                == "Migrating STORE is refused: 'Note.text' becomes required, but the Note object with the primary key 5 has no value; give it a default value, or set the values in the older version first."
        )
        try store.rows("UPDATE ZNOTE SET ZTEXT = 'b' WHERE Z_PK = 5")
        try store.migrate(new)
    }

    @Test("A transient attribute that becomes persistent is new, and one that becomes transient is gone")
    func transient() throws {
        let store = try MigratedStore(
            note(AttributeDescription("text", .string), AttributeDescription("n", .integer16, isTransient: true)),
            Self.two)
        try store.migrate(
            note(
                AttributeDescription("text", .string, isTransient: true),
                AttributeDescription("n", .integer16, defaultValue: 3)))
        #expect(try store.rows("SELECT * FROM ZNOTE") == ["1|1|1|3", "5|1|3|3"])
    }

    @Test("Changes that the file does not show need no migration")
    func compatible() throws {
        let store = try MigratedStore(note(AttributeDescription("text", .string)), Self.two)
        let before = try store.dump()
        _ = try PersistentContainer(
            name: "New",
            managedObjectModel: try ManagedObjectModel(
                entities: note(
                    AttributeDescription(
                        "text", .string, defaultValue: "new", maximumValue: 10, renamingIdentifier: "body",
                        userInfo: ["a": "b"]), AttributeDescription("n", .integer16, isTransient: true))),
            storeURL: store.url)
        #expect(try store.dump() == before)
    }

    @Test("Derived attributes are computed for the objects that exist")
    func derived() throws {
        func model(_ derived: AttributeDescription...) -> [EntityDescription] {
            [
                EntityDescription(
                    "Author", attributes: [AttributeDescription("name", .string)] + derived,
                    relationships: [RelationshipDescription("notes", to: "Note", inverse: "author", isToMany: true)]),
                EntityDescription(
                    "Note", attributes: [AttributeDescription("length", .integer32)],
                    relationships: [RelationshipDescription("author", to: "Author", inverse: "notes")]),
            ]
        }
        let store = try MigratedStore(
            model(),
            "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Zoë'), (2, 1, 1, NULL); INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZLENGTH) VALUES (1, 2, 1, 1, 10), (2, 2, 1, 1, 5)"
        )
        let count = AttributeDescription("count", .integer32, derivationExpression: "notes.@count")
        let sum = AttributeDescription("sum", .integer64, derivationExpression: "notes.@sum.length")
        let key = AttributeDescription("key", .string, derivationExpression: "canonical:(name)")
        let changed = AttributeDescription("changed", .date, derivationExpression: "now()")
        let container = try store.migrate(model(count, sum, key, changed))
        #expect(
            try store.rows("SELECT ZCOUNT, ZSUM, ZKEY, ZCHANGED > 7e8 FROM ZAUTHOR")
                == ["2|15|zoe|1", "0|0|NULL|1"])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let note = context.insertNewObject(forEntityName: "Note")
            let author = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Author")).first)
            note[ToOneKey<ManagedObject>("author")] = author
            try context.save()
        }
        #expect(try store.rows("SELECT ZCOUNT FROM ZAUTHOR WHERE Z_PK = 1") == ["3"])
        try container.close()
        try store.migrate(
            model(
                AttributeDescription("count", .integer32),
                AttributeDescription("key", .string, derivationExpression: "uppercase:(name)")))
        #expect(try store.rows("SELECT ZCOUNT, ZKEY FROM ZAUTHOR") == ["3|ZOË", "0|NULL"])
    }

    @Test("Values move into and out of external storage")
    func external() throws {
        func model(_ isExternal: Bool) -> [EntityDescription] {
            note(
                AttributeDescription("text", .string),
                AttributeDescription("data", .binary, allowsExternalBinaryDataStorage: isExternal))
        }
        let store = try MigratedStore(
            model(false), Self.two + "; UPDATE ZNOTE SET ZDATA = x'0102' WHERE Z_PK = 1")
        try store.migrate(model(true))
        #expect(try store.rows("SELECT hex(ZDATA) FROM ZNOTE") == ["010102", ""])
        let large = Data(repeating: 7, count: 200_000)
        let container = try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: model(true)), storeURL: store.url)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let note = context.insertNewObject(forEntityName: "Note")
            note["data"] = large
            try context.save()
        }
        try container.close()
        let folder = store.url.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        // Other changes leave the files alone.
        try store.migrate(model(true) + [EntityDescription("Other")])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        try store.migrate(model(false))
        #expect(
            try store.rows("SELECT length(ZDATA), hex(substr(ZDATA, 1, 2)) FROM ZNOTE ORDER BY Z_PK") == [
                "2|0102", "NULL|", "200000|0707",
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("A missing file of a large value stops the migration, and the store stays as it was")
    func missingFile() throws {
        func model(_ isExternal: Bool) -> [EntityDescription] {
            note(AttributeDescription("data", .binary, allowsExternalBinaryDataStorage: isExternal))
        }
        let store = try MigratedStore(
            model(true),
            "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZDATA) VALUES (1, 1, 1, CAST(x'02' || '00000000-0000-0000-0000-000000000000' AS BLOB))"
        )
        let before = try store.dump()
        let text = performing { try store.migrate(model(false)) }
        #expect(text.hasPrefix("Reading a large value failed because the file "))
        #expect(text.hasSuffix("cannot be read; put it back from a copy of the store."))
        #expect(try store.dump() == before)
    }

    @Test("The files of a removed attribute and of removed objects are removed")
    func removedFiles() throws {
        let data = AttributeDescription("data", .binary, allowsExternalBinaryDataStorage: true)
        let old = [EntityDescription("Note", attributes: [data]), EntityDescription("Other")]
        for new in [[EntityDescription("Note"), old[1]], [old[1]]] {
            let store = try MigratedStore(old) { url in
                let model = try ManagedObjectModel(entities: old)
                let context = try PersistentContainer(name: "Fill", managedObjectModel: model, storeURL: url)
                    .newBackgroundContext()
                try context.performAndWait {
                    context.insertNewObject(forEntityName: "Note")["data"] = Data(repeating: 1, count: 150_000)
                    try context.save()
                }
            }
            let folder = store.url.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
            try store.migrate(new)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("Indexes are added and removed with any other change")
    func indexes() throws {
        let byText = FetchIndexDescription("byText", elements: [.init("text")])
        let store = try MigratedStore(note(AttributeDescription("text", .string), indexes: [byText]), Self.two)
        try store.migrate(
            note(
                AttributeDescription("text", .string), AttributeDescription("n", .integer16),
                indexes: [FetchIndexDescription("byNumber", elements: [.init("n"), .init("text")])]))
        #expect(
            try store.rows("SELECT name FROM sqlite_master WHERE type = 'index'") == ["Z_Note_byNumber"])
    }

    @Test("An index that the program made itself stays")
    func ownIndex() throws {
        for removed in [[], [AttributeDescription("a", .string), AttributeDescription("b", .string)]] {
            let store = try MigratedStore(
                [EntityDescription("Note", attributes: [AttributeDescription("text", .string)] + removed)], Self.two)
            try store.rows("CREATE INDEX mine ON ZNOTE (ZTEXT) WHERE ZTEXT IS NOT NULL")
            let new = note(AttributeDescription("text", .string), AttributeDescription("n", .integer16))
            var description = PersistentStoreDescription(url: store.url)
            description.shouldMigrateStoreAutomatically = true
            _ = try PersistentContainer(
                name: "New", managedObjectModel: ManagedObjectModel(entities: new), storeDescription: description)
            #expect(
                try store.rows("SELECT sql FROM sqlite_master WHERE type = 'index'")
                    == ["CREATE INDEX mine ON ZNOTE (ZTEXT) WHERE ZTEXT IS NOT NULL"])
        }
    }

    @Test("A new uniqueness constraint is checked before anything changes")
    func unique() throws {
        let old = note(AttributeDescription("text", .string), AttributeDescription("n", .integer16))
        let new = note(
            AttributeDescription("body", .string, renamingIdentifier: "text"), AttributeDescription("n", .integer16),
            unique: [["body", "n"]])
        let store = try MigratedStore(
            old,
            "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZN) VALUES (1, 1, 1, 'a', 1), (2, 1, 1, 'a', 2), (3, 1, 1, NULL, 1), (4, 1, 1, NULL, 1), (8, 1, 1, 'a', 2)"
        )
        #expect(
            try store.refusal(new)
                == "Migrating STORE is refused: 'Note.body' and 'Note.n' must be unique now, but another object has the same values as the Note object with the primary key 8; make the values distinct in the older version first, or write a custom stage that merges the objects."
        )
        try store.rows("UPDATE ZNOTE SET ZN = 3 WHERE Z_PK = 8")
        try store.migrate(new)
        #expect(try store.rows("SELECT COUNT(*) FROM ZNOTE") == ["5"])
    }
}
