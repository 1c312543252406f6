import FaultlineAnalysis
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import TestFolders

/// A store with a configuration, and the profile of what was done with it.
final class RecordedShop {
    let folder: URL
    let url: URL
    let model: ManagedObjectModel
    private(set) var profile = Profile()

    /// What the program asks for, one price after the other.
    enum Question {
        /// How many items have it.
        case count
        /// The items.
        case items
        /// The items, with a list of prices; at first an empty one.
        case lists
    }

    init(
        configuration: String? = "Shop", items: Int = 200, asks question: Question = .count, isWarm: Bool = false
    ) throws {
        folder = try TestFolder.make()
        url = folder.appendingPathComponent("Shop.sqlite")
        model = try ManagedObjectModel(
            entities: [
                EntityDescription(
                    "Item",
                    attributes: [
                        AttributeDescription("name", .string), AttributeDescription("price", .double),
                        AttributeDescription("photo", .binary, allowsExternalBinaryDataStorage: true),
                    ]),
                EntityDescription("Note", attributes: [AttributeDescription("text", .string)]),
            ], configurations: [ConfigurationDescription("Shop", entities: ["Item"])])
        let recorder = Recorder.memory(ringBytes: 16 << 20)
        try fill(configuration, items)
        var description = PersistentStoreDescription(url: url)
        description.configuration = configuration
        let container = try PersistentContainer(
            name: "Shop", managedObjectModel: model, storeDescription: description, recorder: recorder)
        // Counts are asked for in a request each: in one they would be a loop.
        let context = container.newBackgroundContext()
        if isWarm {
            try recorder.scope("warming", kind: .setup) { try work(context, question, prices: 0...9) }
        }
        if question == .count {
            for price in 0..<10 {
                try recorder.scope("price", kind: .request) { try work(context, question, prices: price...price) }
            }
        } else {
            try recorder.scope("prices", kind: .screen) { try work(context, question, prices: 0...9) }
        }
        profile = Profile(recorder.messages())
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Items with prices, every other one with a photo in a file of its own.
    private func fill(_ configuration: String?, _ items: Int) throws {
        var description = PersistentStoreDescription(url: url)
        description.configuration = configuration
        description.externalStorageThreshold = 1000
        let container = try PersistentContainer(
            name: "Shop", managedObjectModel: model, storeDescription: description, recorder: .off())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<items {
                let item = context.insertNewObject(forEntityName: "Item")
                item.setValue("Item \(number)", forKey: "name")
                item.setValue(Double(number % 10), forKey: "price")
                item.setValue(Data(count: number.isMultiple(of: 2) ? 2000 : 0), forKey: "photo")
            }
            try context.save()
        }
    }

    /// The items of each price are fetched; the fetch of the last one finds none.
    private func work(_ context: ManagedObjectContext, _ question: Question, prices: ClosedRange<Int>) throws {
        try context.performAndWait {
            for price in prices {
                let wanted = price == 9 ? 1000.0 : Double(price)
                let predicate: FetchPredicate =
                    question == .lists
                    ? .isIn("price", price == 0 ? [] : [wanted, -1]) : PropertyPath("price") == wanted
                let items = try context.fetch(
                    FetchRequest<ManagedObject>(entityName: "Item", predicate: predicate))
                if question == .count { _ = items.count } else { for item in items { _ = item.value(forKey: "name") } }
            }
        }
    }
}
