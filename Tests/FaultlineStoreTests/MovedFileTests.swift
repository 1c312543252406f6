import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A store whose file is gone")
struct MovedFileTests {
    private func refused(_ doing: String, _ url: URL) -> String {
        "\(doing) in '\(url.path)' is refused because the file was deleted, moved or replaced after the store was opened, and the changes would be lost; put the file back, or remove the store from its coordinator and add it again."
    }

    @Test("refuses saves and batch requests until the file is back, and keeps the changes")
    func refusal() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let item = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))[0]
        let aside = store.folder.appendingPathComponent("aside")
        try FileManager.default.moveItem(at: store.url, to: aside)
        item.name = "Milk"
        #expect(performing { try store.context.save() } == refused("Saving", store.url))
        #expect(store.context.hasChanges)
        Item(context: store.context).name = "Bread"
        do {
            try store.context.save()
            Issue.record("A save of new objects is refused, too.")
        } catch let error as StoreError {
            #expect(error.code == .fileMoved)
        }
        #expect(
            performing { try store.context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Item>())) }
                == refused("Running a batch request", store.url))
        try Data().write(to: store.url)
        #expect(performing { try store.context.save() } == refused("Saving", store.url))
        try FileManager.default.removeItem(at: store.url)
        try FileManager.default.moveItem(at: aside, to: store.url)
        try store.context.save()
        #expect(try store.sql("SELECT ZNAME FROM ZITEM ORDER BY ZNAME") == ["Bread", "Item 1", "Milk"])
    }

    @Test("still refuses nothing in memory")
    func inMemory() throws {
        let store = try TestStore { $0.type = .inMemory }
        try store.fill(items: 1)
        #expect(try store.context.count(for: FetchRequest<Item>()) == 1)
    }
}
