import FaultlineModel
import FaultlineProfile
import FaultlineRecorder
import FaultlineRules
import FaultlineStore
import FaultlineTrace
import Foundation
import TestFolders

/// A store with a configuration, and the profile of a program that used it.
final class RecordedShop {
    let folder: URL
    let url: URL
    let model: ManagedObjectModel
    private(set) var profile = Profile()

    /// The requests of the program, for one price after the other.
    enum Question {
        /// The number of items with the price.
        case count
        /// The items with the price.
        case items
        /// The items with a price from a list, which is empty at first.
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
        // Each count runs in a request of its own, because in a single request they would be a loop.
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

    /// Inserts items with prices, every other one with a photo in an external file.
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

    /// Fetches the items of each price; the last fetch finds none.
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
