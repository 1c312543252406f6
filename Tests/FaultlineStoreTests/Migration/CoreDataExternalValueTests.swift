import FaultlineMigration
import FaultlineStore
import Foundation
import SharedData
import Testing

@testable import FaultlineModel

/// Core Data's copy of a model does not record which attributes use external storage.
///
/// A migration that took one kind for the other would wrap each value once more, or take a byte away.
@Suite(
    "The values of a Core Data store that may be in files of their own",
    .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct CoreDataExternalValueTests {
    private let store: MigratedStore
    private static let file = "0A1B2C3D-0000-4000-8000-00000000000F"

    /// Makes a store with two binary attributes: the names are in the rows, and pets are external.
    init() throws {
        store = MigratedStore(url: try CoreDataFixture.users.copy())
        let rows = try SQLShell.cells("SELECT Z_CONTENT FROM Z_MODELCACHE", store.url)
        let content: Data? = if case .blob(let data)? = rows.first?["Z_CONTENT"] { data } else { nil }
        var archive = try #require(content.flatMap { ManagedObjectModel.inflate($0) })
        // The number of the type String, which becomes that of the type Binary.
        let type = try #require(archive.range(of: Data([0x11, 0x02, 0xBC])))
        archive.replaceSubrange(type, with: [0x11, 0x03, 0xE8])
        let size = UInt16(archive.count)
        // A block of the deflate format that is not compressed (RFC 1951, 3.2.4).
        var stored = Data([1, UInt8(size & 255), UInt8(size >> 8), UInt8(~size & 255), UInt8(~size >> 8)])
        stored += archive
        try store.rows(
            """
            UPDATE Z_MODELCACHE SET Z_CONTENT = x'\(Self.hex(stored))';
            PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET sql = replace(sql, 'VARCHAR', 'BLOB') WHERE name = 'ZUSER';
            PRAGMA writable_schema = 0;
            UPDATE ZUSER SET ZNAME = CAST(ZNAME AS BLOB), ZPETNAME = x'01414243';
            UPDATE ZUSER SET ZPETNAME = x'02\(Self.hex(Data(Self.file.utf8)))00' WHERE Z_PK = 1;
            """)
        let folder = store.url.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("a large value".utf8).write(to: folder.appendingPathComponent(Self.file))
    }

    private static func hex(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    private func model(external: Bool, isNew: Bool = true) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "User",
                attributes: [
                    AttributeDescription("name", .binary, isOptional: false),
                    AttributeDescription("petName", .binary, allowsExternalBinaryDataStorage: external),
                ] + (isNew ? [AttributeDescription("age", .integer16)] : []))
        ])
    }

    private func values() throws -> [String] {
        try store.rows("SELECT hex(ZNAME), hex(ZPETNAME) FROM ZUSER ORDER BY Z_PK")
    }

    @Test("stay as they are, with and without the version that wrote the store", arguments: [0, 1, 2, 3])
    func kept(sources count: Int) throws {
        let before = try values()
        // The version without files is another one, although Core Data's copy does not show the difference.
        let sources = try [[], [true], [false, true], [true, false]][count].map {
            try model(external: $0, isNew: false)
        }
        let container = try store.migrate(to: model(external: true)) { $0.sourceModels = sources }
        #expect(try values() == before)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let users = try context.fetch(FetchRequest<ManagedObject>(entityName: "User"))
            let pets = users.map { ($0["petName"] as? Data).map { String(decoding: $0, as: UTF8.self) } }
            #expect(pets.filter { $0 == "a large value" }.count == 1)
            #expect(pets.filter { $0 == "ABC" }.count == before.count - 1)
        }
    }

    @Test("are not taken out of files on the strength of their look alone")
    func refused() throws {
        let before = try store.dump()
        #expect {
            try store.migrate(to: model(external: false))
        } throws: { error in
            (error as? StoreError)?.message
                == "Migrating '\(store.url.path)' is refused because the values of 'User.petName' may be in external files, and Core Data's copy of the model does not record whether they are; name the version that wrote the store, in sourceModels or with --from."
        }
        #expect(try store.dump() == before)
        // With the version, it is known.
        let sources = [try model(external: true, isNew: false)]
        try store.migrate(to: model(external: false)) { $0.sourceModels = sources }
        let large = Self.hex(Data("a large value".utf8))
        let found = try values()
        #expect(found.count == 12)
        #expect(found.filter { $0.hasSuffix("|\(large)") }.count == 1)
        #expect(found.filter { $0.hasSuffix("|414243") }.count == 11)
    }
}
