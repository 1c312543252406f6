import FaultlineMigration
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation
import Testing

@Suite("Indexes follow the model without a new version")
struct IndexUpdateTests {
    private let store: MigratedStore

    init() throws {
        store = try MigratedStore(
            Self.note(),
            "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZRANK) VALUES (1, 1, 1, 'b', 2), (2, 1, 1, 'a', 1)")
    }

    private static func note(_ indexes: [String] = [], modifier: String? = nil) -> [EntityDescription] {
        [
            EntityDescription(
                "Note", attributes: [AttributeDescription("text", .string), AttributeDescription("rank", .integer16)],
                indexes: indexes.map { FetchIndexDescription("by\($0)", on: $0) },
                versionHashModifier: modifier)
        ]
    }

    private var indexes: [String] {
        get throws { try store.rows("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY 1") }
    }

    private func open(_ entities: [EntityDescription], isReadOnly: Bool = false) throws {
        var description = PersistentStoreDescription(url: store.url)
        description.isReadOnly = isReadOnly
        try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: entities), storeDescription: description
        ).close()
    }

    @Test("An index that was added is created when the store is opened, and one that was removed goes")
    func update() throws {
        try open(Self.note(["text"]))
        #expect(try indexes == ["Z_Note_bytext"])
        try store.checkStructure(of: try ManagedObjectModel(entities: Self.note(["text"])))
        try store.rows("CREATE INDEX own ON ZNOTE (lower(ZTEXT))")
        try open(Self.note(["rank"]))
        #expect(try indexes == ["Z_Note_byrank", "own"])
        try open(Self.note())
        #expect(try indexes == ["own"])
        #expect(try store.rows("SELECT ZTEXT, ZRANK FROM ZNOTE ORDER BY Z_PK") == ["b|2", "a|1"])
    }

    @Test("A store that is opened read-only, or that another program writes to, gets it later")
    func later() throws {
        try open(Self.note(["text"]), isReadOnly: true)
        #expect(try indexes == [])
        let writer = try OpenConnection(store.url)
        try writer.run("BEGIN IMMEDIATE")
        var description = PersistentStoreDescription(url: store.url)
        description.busyTimeout = 0
        try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: Self.note(["text"])),
            storeDescription: description
        ).close()
        try writer.run("ROLLBACK")
        #expect(try indexes == [])
        try open(Self.note(["text"]))
        #expect(try indexes == ["Z_Note_bytext"])
    }

    @Test("With a version hash modifier, a migration does the same")
    func modifier() throws {
        try store.migrate(Self.note(["text"], modifier: "2"))
        #expect(try indexes == ["Z_Note_bytext"])
        try store.migrate(Self.note([], modifier: "3"))
        #expect(try indexes == [])
        #expect(try store.rows("SELECT ZTEXT, ZRANK FROM ZNOTE ORDER BY Z_PK") == ["b|2", "a|1"])
    }

    @Test("A program's own index on an expression survives a migration, also in a table that is copied")
    func expression() throws {
        try store.rows(
            "CREATE INDEX own ON ZNOTE (lower(ZTEXT)); CREATE INDEX other ON ZNOTE (abs(ZRANK)); CREATE INDEX some ON ZNOTE (ZTEXT) WHERE ZRANK > 1"
        )
        var entities = Self.note()
        entities[0].attributes.append(AttributeDescription("new", .string))
        try open(entities)
        #expect(try indexes == ["other", "own", "some"])
        // The type of a column changes, so the rows are copied; the other index loses its column.
        entities[0].attributes = [AttributeDescription("text", .string), AttributeDescription("new", .string)]
        try open(entities)
        #expect(try indexes == ["own"])
        entities[0].attributes[1] = AttributeDescription("new", .string, allowsExternalBinaryDataStorage: false)
        entities[0].attributes.append(AttributeDescription("n", .integer64))
        try open(entities)
        entities[0].attributes[2].type = .double
        try open(entities)
        #expect(try indexes == ["own"])
        #expect(try store.rows("SELECT ZTEXT FROM ZNOTE WHERE lower(ZTEXT) = 'b'") == ["b"])
    }
}
