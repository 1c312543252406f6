import CStore
import FaultlineModel
import Foundation
import Testing

@testable import FaultlineStore

@Suite("Rows in memory")
struct RowTests {
    @Test("Columns are at the offsets that inlined readers use")
    func places() {
        #expect(MemoryLayout<cstore_row>.offset(of: \.present) == StoredValueLocation.presenceOffset)
        #expect(MemoryLayout<cstore_row>.size == StoredValueLocation.columnsOffset)
        #expect(RowLayout.offset(ofSlot: 3) == StoredValueLocation.columnsOffset + 24)
    }

    @Test(
        "An entity with many attributes keeps every value and every nil",
        arguments: [1, 63, 64, 65, 128, 130, 200])
    func manyColumns(count: Int) throws {
        let names = (0..<count).map { "value\($0)" }
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Wide", attributes: names.map { AttributeDescription($0, .integer64) })
        ])
        let folder = try TestStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("wide.sqlite")
        for pass in 0..<2 {
            let container = try PersistentContainer(name: "Wide", managedObjectModel: model, storeURL: url)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                if pass == 0 {
                    let object = context.insertNewObject(forEntityName: "Wide")
                    for (place, name) in names.enumerated() where place % 3 != 1 { object[name] = place }
                    try context.save()
                }
                let object = try context.fetch(FetchRequest<ManagedObject>(entityName: "Wide"))[0]
                for (place, name) in names.enumerated() {
                    let key = AttributeKey<Int?>(name)
                    for _ in 0..<2 { #expect(object[key] == (place % 3 == 1 ? nil : place)) }
                }
            }
        }
    }

    @Test("Zero, empty text and empty data are distinct from nil")
    func emptyValues() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Value",
                attributes: [
                    AttributeDescription("integer", .integer64), AttributeDescription("real", .double),
                    AttributeDescription("text", .string), AttributeDescription("data", .binary),
                ])
        ])
        let folder = try TestStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try PersistentContainer(
            name: "Values", managedObjectModel: model, storeURL: folder.appendingPathComponent("values.sqlite"))
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let object = context.insertNewObject(forEntityName: "Value")
            object["integer"] = 0
            object["real"] = 0.0
            object["text"] = ""
            object["data"] = Data()
            _ = context.insertNewObject(forEntityName: "Value")
            try context.save()
        }
        let reader = container.newBackgroundContext()
        container.persistentStoreCoordinator.removeUnusedRows()
        try reader.performAndWait {
            let objects = try reader.fetch(
                FetchRequest<ManagedObject>(entityName: "Value", sortDescriptors: [.ascending("SELF")]))
            let (full, empty) = (objects[0], objects[1])
            #expect(full[AttributeKey<Int?>("integer")] == 0)
            #expect(full[AttributeKey<Double?>("real")] == 0)
            #expect(full[AttributeKey<String?>("text")] == "")
            #expect(full[AttributeKey<Data?>("data")] == Data())
            #expect(empty[AttributeKey<Int?>("integer")] == nil)
            #expect(empty[AttributeKey<Double?>("real")] == nil)
            #expect(empty[AttributeKey<String?>("text")] == nil)
            #expect(empty[AttributeKey<Data?>("data")] == nil)
        }
    }

    @Test("Values longer than a block round-trip")
    func longValues() throws {
        let store = try TestStore()
        for length in [4_000, 5_000, 70_000, 200_000, 1] {
            let item = Item(context: store.context)
            item.name = String(repeating: "x", count: length)
        }
        try store.context.save()
        store.container.persistentStoreCoordinator.removeUnusedRows()
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            let lengths = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("SELF")]))
                .map(\.name.utf8.count)
            #expect(lengths == [4_000, 5_000, 70_000, 200_000, 1])
        }
    }

    @Test("A store with UTF-16 text reads like one with UTF-8 text")
    func otherEncoding() throws {
        let store = try TestStore { description in
            // The first table determines the encoding of a file.
            _ = try? SQLShell.run(
                "PRAGMA encoding = 'UTF-16le'; CREATE TABLE first(column); DROP TABLE first", description.url)
        }
        #expect(try store.sql("PRAGMA encoding") == ["UTF-16le"])
        for name in ["plain", "straße", ""] { Item(context: store.context).name = name }
        try store.context.save()
        store.container.persistentStoreCoordinator.removeUnusedRows()
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            let names = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("SELF")])).map(\.name)
            #expect(names == ["plain", "straße", ""])
        }
    }

    @Test("Faults of one perform share a block, which is freed when unused after the perform")
    func faultBlocks() throws {
        let store = try TestStore { $0.rowCacheLimit = 0 }
        try store.fill(items: 20)
        let cache = store.container.persistentStoreCoordinator.stores[0].rows
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            let items = try context.fetch(FetchRequest<Item>(includesPropertyValues: false)).map { $0 }
            store.container.persistentStoreCoordinator.removeUnusedRows()
            #expect(cache.count == 0)
            for item in items { #expect(!item.name.isEmpty) }
            #expect(Set(items.compactMap { $0.block.map { ObjectIdentifier($0) } }).count == 1)
            #expect(cache.count == 20)
        }
        cache.removeUnused()
        #expect(cache.count == 0)
    }
}
