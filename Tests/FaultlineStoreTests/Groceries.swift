import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Synchronization
import TestFolders
import Testing

final class Item: ManagedObject {
    static let name = AttributeKey<String>("name")
    static let price = AttributeKey<Double?>("price")
    static let amount = AttributeKey<Int>("amount")
    static let category = ToOneKey<Category>("category")
    static let tags = ToManyKey<Tag>("tags")

    var name: String {
        get { self[Self.name] }
        set { self[Self.name] = newValue }
    }
    var price: Double? {
        get { self[Self.price] }
        set { self[Self.price] = newValue }
    }
    var amount: Int {
        get { self[Self.amount] }
        set { self[Self.amount] = newValue }
    }
    var category: Category? {
        get { self[Self.category] }
        set { self[Self.category] = newValue }
    }
    var tags: ToMany<Tag> { self[Self.tags] }
}

final class Category: ManagedObject {
    static let name = AttributeKey<String>("name")
    static let items = ToManyKey<Item>("items")
    static let section = ToOneKey<Section>("section")

    var name: String {
        get { self[Self.name] }
        set { self[Self.name] = newValue }
    }
    var items: ToMany<Item> { self[Self.items] }
    var section: Section? {
        get { self[Self.section] }
        set { self[Self.section] = newValue }
    }
}

final class Section: ManagedObject {
    static let title = AttributeKey<String>("title")
    static let category = ToOneKey<Category>("category")

    var title: String {
        get { self[Self.title] }
        set { self[Self.title] = newValue }
    }
    var category: Category? {
        get { self[Self.category] }
        set { self[Self.category] = newValue }
    }
}

final class Tag: ManagedObject {
    static let label = AttributeKey<String>("label")
    static let items = ToManyKey<Item>("items")

    var label: String {
        get { self[Self.label] }
        set { self[Self.label] = newValue }
    }
    var items: ToMany<Item> { self[Self.items] }
}

/// Entities by number: 1 Category, 2 Item, 3 Section, 4 Tag.
enum Groceries {
    static func entities(itemsRule: DeleteRule = .nullify) -> [EntityDescription] {
        [
            EntityDescription(
                "Item",
                attributes: [
                    AttributeDescription("name", .string, isOptional: false), AttributeDescription("price", .double),
                    AttributeDescription("amount", .integer32, defaultValue: 1),
                ],
                relationships: [
                    RelationshipDescription("category", to: "Category", inverse: "items"),
                    RelationshipDescription("tags", to: "Tag", inverse: "items", isToMany: true),
                ],
                indexes: [FetchIndexDescription("byName", on: "name")]),
            EntityDescription(
                "Category", attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription(
                        "items", to: "Item", inverse: "category", isToMany: true, deleteRule: itemsRule),
                    RelationshipDescription("section", to: "Section", inverse: "category"),
                ]),
            EntityDescription(
                "Section", attributes: [AttributeDescription("title", .string)],
                relationships: [RelationshipDescription("category", to: "Category", inverse: "section")]),
            EntityDescription(
                "Tag", attributes: [AttributeDescription("label", .string)],
                relationships: [RelationshipDescription("items", to: "Item", inverse: "tags", isToMany: true)]),
        ]
    }

    static let classes: [ManagedObject.Type] = [Item.self, Category.self, Section.self, Tag.self]
}

/// A store in a folder of its own, with a recorder and a log of its own.
final class TestStore {
    let folder: URL
    let container: PersistentContainer
    let context: ManagedObjectContext
    let recorder: Recorder
    let lines = Lines()

    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        /// Removes and returns the lines.
        func takeAll() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }

        /// Removes and returns the lines, with times, addresses and the lines of call sites masked.
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines.map {
                    $0.replacing(/\d+\.\d{4}s/, with: "#s").replacing(
                        /NSSQLiteStatement <0x[0-9a-f]+>/, with: "NSSQLiteStatement <#>"
                    ).replacing(#/(fetch|count|save|batch request) \d+ at (\S+):\d+ in /#) { found in
                        "\(found.output.1) # at \(found.output.2):# in "
                    }
                }
            }
        }
    }

    init(
        _ entities: [EntityDescription] = Groceries.entities(), classes: [ManagedObject.Type] = Groceries.classes,
        isRecording: Bool = false, countsHits: Bool = false, level: Int = 0,
        configure: (inout PersistentStoreDescription) -> Void = { _ in }
    ) throws {
        folder = try TestStore.makeFolder()
        recorder = isRecording ? .memory(eachFault: !countsHits) : .shared
        var description = PersistentStoreDescription(url: folder.appendingPathComponent("Test.sqlite"))
        description.synchronization = .off
        configure(&description)
        let lines = lines
        container = try PersistentContainer(
            name: "Test", managedObjectModel: try ManagedObjectModel(entities: entities), storeDescription: description,
            classes: classes, recorder: recorder, sqlDebug: SQLDebugLog(level: level) { lines.add($0) })
        context = container.newBackgroundContext()
    }

    deinit {
        // Objects that reference each other would keep the context alive, and with it the open store.
        context.performAndWait { context.reset() }
        try? FileManager.default.removeItem(at: folder)
    }

    static func makeFolder() throws -> URL {
        let folder = try TestFolder.make()
        return folder
    }

    var url: URL { container.persistentStoreCoordinator.url }

    /// Inserts items named "Item 0" and up, with prices rising by 1, in categories named "Category 0" and up.
    func fill(items: Int, categories: Int = 1, tags: Int = 0) throws {
        let context = container.newBackgroundContext()
        defer { context.performAndWait { context.reset() } }
        let made = (0..<categories).map { number in
            let category = Category(context: context)
            category.name = "Category \(number)"
            return category
        }
        let labels = (0..<tags).map { number in
            let tag = Tag(context: context)
            tag.label = "Tag \(number)"
            return tag
        }
        for number in 0..<items {
            let item = Item(context: context)
            item.name = "Item \(number)"
            item.price = Double(number)
            if categories > 0 { item.category = made[number % categories] }
            if tags > 0 { item.tags.add(labels[number % tags]) }
        }
        try context.save()
    }

    /// Runs an SQL statement on a connection of its own and returns the first column of its rows.
    @discardableResult
    func sql(_ text: String) throws -> [String] {
        try SQLShell.run(text, url)
    }

    var events: [TraceEvent] { recorder.events }

    var dictionary: TraceDictionary { recorder.dictionary }

    func statements(ofType type: TraceEvent.Statement.StatementType = .read) -> [String] {
        let dictionary = dictionary
        return events.compactMap {
            guard case .sql(let statement) = $0.detail, statement.type == type else { return nil }
            return dictionary.statement(statement.statement)?.sql
        }
    }
}

extension Recorder {
    /// The events of a recorder in memory.
    var events: [TraceEvent] { messages().compactMap { if case .event(let event) = $0 { event } else { nil } } }

    var dictionary: TraceDictionary {
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in messages() { dictionary.insert(entry, id: id) }
        return dictionary
    }
}
