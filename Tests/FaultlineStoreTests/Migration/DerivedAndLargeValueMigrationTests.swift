import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Derived attributes and large values follow their attribute to a new version")
struct DerivedAndLargeValueMigrationTests {
    // MARK: - Derived attributes

    private func author(_ attributes: AttributeDescription...) -> [EntityDescription] {
        [EntityDescription("Author", attributes: attributes)]
    }

    private let name = AttributeDescription("name", .string)

    private func key(_ expression: String?) -> AttributeDescription {
        AttributeDescription("key", .string, derivationExpression: expression)
    }

    /// Sets an attribute of the author with the primary key 1, whose trigger then sets the derived one.
    private func change(_ attribute: String, to value: String, in container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            var request = FetchRequest<ManagedObject>(entityName: "Author")
            request.predicate = try FetchPredicate(format: "%K == 'Zoë'", attribute)
            let author = try #require(try context.fetch(request).first)
            author[attribute] = value
            try context.save()
        }
    }

    @Test("An attribute that becomes derived has its computed value", arguments: [false, true])
    func becomesDerived(hasOtherChange: Bool) throws {
        let store = try MigratedStore(
            author(name, key(nil)),
            """
            INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZKEY) VALUES
            (1, 1, 1, 'Zoë', 'old'), (2, 1, 1, NULL, 'old');
            """)
        var new = author(name, key("canonical:(name)"))
        if hasOtherChange { new[0].attributes.append(AttributeDescription("n", .integer16)) }
        let container = try store.migrate(new)
        #expect(try store.rows("SELECT Z_PK, ZNAME, ZKEY FROM ZAUTHOR ORDER BY 1") == ["1|Zoë|zoe", "2|NULL|NULL"])
        try change("name", to: "Émile", in: container)
        #expect(try store.rows("SELECT ZKEY FROM ZAUTHOR WHERE Z_PK = 1") == ["emile"])
    }

    private func filled(_ entities: [EntityDescription]) throws -> MigratedStore {
        try MigratedStore(entities) { url in
            let model = try ManagedObjectModel(entities: entities)
            let container = try PersistentContainer(name: "Fill", managedObjectModel: model, storeURL: url)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.insertNewObject(forEntityName: "Author")["name"] = "Zoë"
                try context.save()
            }
            try container.close()
        }
    }

    @Test("A derived attribute is computed again when its expression changes", arguments: [false, true])
    func changedExpression(hasOtherChange: Bool) throws {
        let store = try filled(author(name, key("canonical:(name)")))
        #expect(try store.rows("SELECT ZKEY FROM ZAUTHOR") == ["zoe"])
        var new = author(name, key("uppercase:(name)"))
        if hasOtherChange { new[0].attributes.append(AttributeDescription("n", .integer16)) }
        try store.migrate(new)
        #expect(try store.rows("SELECT ZNAME, ZKEY FROM ZAUTHOR") == ["Zoë|ZOË"])
    }

    @Test("A derived attribute follows the attribute that it is derived from to its new name")
    func renamedSource() throws {
        let store = try filled(author(name, key("canonical:(name)")))
        let container = try store.migrate(
            author(AttributeDescription("title", .string, renamingIdentifier: "name"), key("canonical:(title)")))
        #expect(try store.rows("SELECT ZTITLE, ZKEY FROM ZAUTHOR") == ["Zoë|zoe"])
        try change("title", to: "Émile", in: container)
        #expect(try store.rows("SELECT ZTITLE, ZKEY FROM ZAUTHOR") == ["Émile|emile"])
    }

    // MARK: - Large values

    private static let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    private func photo(
        _ name: String, isExternal: Bool = true, parent: String? = nil, was: String? = nil
    ) -> [EntityDescription] {
        [
            EntityDescription("Item"),
            EntityDescription(
                "Photo", parent: parent,
                attributes: [
                    AttributeDescription(
                        name, .binary, allowsExternalBinaryDataStorage: isExternal, renamingIdentifier: was)
                ]),
        ]
    }

    /// A store with one photo.
    private func photoStore(_ entities: [EntityDescription]) throws -> MigratedStore {
        try MigratedStore(entities) { url in
            let model = try ManagedObjectModel(entities: entities)
            let container = try PersistentContainer(name: "Fill", managedObjectModel: model, storeURL: url)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.insertNewObject(forEntityName: "Photo")["data"] = Self.large
                try context.save()
            }
            try container.close()
        }
    }

    private func value(_ name: String, _ container: PersistentContainer) throws -> Data? {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let photo = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Photo")).first)
            return photo[name] as? Data
        }
    }

    private func files(_ store: MigratedStore) throws -> [String] {
        let folder = store.url.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    @Test("A large value in the database is the same when its attribute becomes external")
    func inlineValue() throws {
        let store = try photoStore(photo("data", isExternal: false))
        #expect(try store.rows("SELECT length(ZDATA) FROM ZPHOTO") == ["200000"])
        let container = try store.migrate(photo("data"))
        #expect(try value("data", container) == Self.large)
    }

    @Test("A renamed external attribute keeps the file of its value")
    func renamedExternal() throws {
        let store = try photoStore(photo("data"))
        let before = try files(store)
        #expect(before.count == 1)
        let container = try store.migrate(photo("image", was: "data"))
        #expect(try value("image", container) == Self.large)
        #expect(try files(store) == before)
    }

    @Test("An object that leaves its hierarchy keeps the file of its value")
    func movedExternal() throws {
        let store = try photoStore(photo("data", parent: "Item"))
        let before = try files(store)
        #expect(before.count == 1)
        let container = try store.migrate(photo("data"))
        #expect(try store.rows("SELECT Z_PK, Z_ENT FROM ZPHOTO") == ["1|2"])
        #expect(try value("data", container) == Self.large)
        #expect(try files(store) == before)
    }
}
