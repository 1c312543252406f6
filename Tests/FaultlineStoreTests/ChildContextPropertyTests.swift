import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Edits through a chain of contexts match the same edits in one context")
struct ChildContextPropertyTests {
    /// Objects of one store that are edited by name, so the same edit can be made in unrelated contexts.
    private final class World {
        let store: TestStore
        /// The contexts, starting with the one that has no parent.
        let contexts: [ManagedObjectContext]

        init(depth: Int) throws {
            store = try TestStore()
            let maker = store.container.newBackgroundContext()
            for number in 0..<3 {
                Category(context: maker).name = "c\(number)"
                Tag(context: maker).label = "t\(number)"
                Section(context: maker).title = "s\(number)"
            }
            try maker.save()
            var contexts = [store.context]
            for _ in 0..<depth { contexts.append(ManagedObjectContext(parent: contexts[contexts.count - 1])) }
            self.contexts = contexts
        }

        func object<Object: ManagedObject>(
            _ type: Object.Type, _ key: String, _ name: String, in context: ManagedObjectContext
        ) throws -> Object? {
            let found = try context.fetch(FetchRequest<Object>(predicate: PropertyPath(key) == name))
            #expect(found.count <= 1)
            return found.first
        }

        func item(_ name: String, in context: ManagedObjectContext) throws -> Item? {
            try object(Item.self, "name", name, in: context)
        }

        func category(_ name: String, in context: ManagedObjectContext) throws -> FaultlineStoreTests.Category? {
            try object(FaultlineStoreTests.Category.self, "name", name, in: context)
        }

        /// Returns everything that a context sees, as text.
        func state(in context: ManagedObjectContext) throws -> [String] {
            let items = try context.fetch(FetchRequest<Item>()).map { item in
                "\(item.name) \(item.amount) \(item.price ?? -1) \(item.category?.name ?? "-") \(item.tags.map(\.label).sorted())"
            }
            let categories = try context.fetch(FetchRequest<FaultlineStoreTests.Category>()).map { category in
                "\(category.name) \(category.items.map(\.name).sorted()) \(category.section?.title ?? "-")"
            }
            let tags = try context.fetch(FetchRequest<Tag>()).map { "\($0.label) \($0.items.map(\.name).sorted())" }
            let sections = try context.fetch(FetchRequest<Section>()).map { "\($0.title) \($0.category?.name ?? "-")" }
            return (items + categories + tags + sections).sorted()
        }

        /// Returns the file's contents without the keys, which depend on the order of saves.
        func file() throws -> [String] {
            try store.sql(
                """
                SELECT i.ZNAME, i.ZAMOUNT, i.ZPRICE, c.ZNAME FROM ZITEM i LEFT JOIN ZCATEGORY c ON i.ZCATEGORY = c.Z_PK
                    ORDER BY i.ZNAME
                """)
                + store.sql(
                    """
                    SELECT c.ZNAME, s.ZTITLE, t.ZTITLE FROM ZCATEGORY c LEFT JOIN ZSECTION s ON c.ZSECTION = s.Z_PK
                        LEFT JOIN ZSECTION t ON t.ZCATEGORY = c.Z_PK ORDER BY c.ZNAME
                    """)
                + store.sql(
                    """
                    SELECT i.ZNAME, t.ZLABEL FROM Z_2TAGS j JOIN ZITEM i ON i.Z_PK = j.Z_2ITEMS
                        JOIN ZTAG t ON t.Z_PK = j.Z_4TAGS ORDER BY i.ZNAME, t.ZLABEL
                    """)
        }
    }

    private enum Edit {
        case insert(String, category: String?)
        case rename(String, String)
        case amount(String, Int)
        case price(String, Double?)
        case move(String, String?)
        case addTag(String, String)
        case removeTag(String, String)
        case setTags(String, [String])
        case delete(String)
        case deleteCategory(String)
        case insertCategory(String)
        case section(String, String?)

        /// - Parameter names: The number of names given to items so far.
        static func random(_ random: inout RandomNumbers, _ names: inout Int) -> Edit {
            let item = "i\(random.number(max(1, names)))"
            let category = "c\(random.number(6))"
            let tag = "t\(random.number(3))"
            switch random.number(14) {
            case 0, 1, 2:
                defer { names += 1 }
                return .insert("i\(names)", category: random.number(3) == 0 ? nil : category)
            case 3: return .amount(item, random.number(9))
            case 4: return .price(item, random.number(3) == 0 ? nil : Double(random.number(9)))
            case 5, 6: return .move(item, random.number(4) == 0 ? nil : category)
            case 7: return .addTag(item, tag)
            case 8: return .removeTag(item, tag)
            case 9: return .setTags(item, (0..<random.number(3)).map { "t\($0)" })
            case 10: return .delete(item)
            case 11 where random.number(3) == 0: return .deleteCategory(category)
            case 11:
                defer { names += 1 }
                return .rename(item, "i\(names)")
            case 12: return .insertCategory("c\(3 + random.number(3))")
            default: return .section(category, random.number(3) == 0 ? nil : "s\(random.number(3))")
            }
        }

        func make(in world: World, _ context: ManagedObjectContext) throws {
            func tag(_ name: String) throws -> Tag? { try world.object(Tag.self, "label", name, in: context) }
            switch self {
            case .insert(let name, let category):
                let item = Item(context: context)
                item.name = name
                item.category = try category.flatMap { try world.category($0, in: context) }
            case .rename(let name, let new): try world.item(name, in: context)?.name = new
            case .amount(let name, let amount): try world.item(name, in: context)?.amount = amount
            case .price(let name, let price): try world.item(name, in: context)?.price = price
            case .move(let name, let category):
                try world.item(name, in: context)?.category = category.flatMap {
                    try world.category($0, in: context)
                }
            case .addTag(let name, let label):
                if let tag = try tag(label) { try world.item(name, in: context)?.tags.add(tag) }
            case .removeTag(let name, let label):
                if let tag = try tag(label) { try world.item(name, in: context)?.tags.remove(tag) }
            case .setTags(let name, let labels):
                guard let item = try world.item(name, in: context) else { return }
                for tag in Array(item.tags) where !labels.contains(tag.label) { item.tags.remove(tag) }
                for label in labels { try tag(label).map { item.tags.add($0) } }
            case .delete(let name): try world.item(name, in: context).map { context.delete($0) }
            case .deleteCategory(let name): try world.category(name, in: context).map { context.delete($0) }
            case .insertCategory(let name):
                if try world.category(name, in: context) == nil { Category(context: context).name = name }
            case .section(let name, let title):
                try world.category(name, in: context)?.section = title.flatMap {
                    try world.object(Section.self, "title", $0, in: context)
                }
            }
        }
    }

    @Test("Each context of a chain, and the store, match a single context with the same edits", arguments: 0..<16)
    func chain(_ seed: Int) throws {
        var random = RandomNumbers(seed: UInt64(seed))
        let depth = 1 + random.number(3)
        let (chained, direct) = (try World(depth: depth), try World(depth: 0))
        let (root, single) = (chained.contexts[0], direct.contexts[0])
        var names = 0
        for _ in 0..<4 {
            // Each context makes edits of its own. Those below it see the edits once they refresh, and save on top.
            for (level, context) in chained.contexts.enumerated() where level > 0 || random.number(2) == 0 {
                context.refreshAllObjects()
                for _ in 0..<random.number(8) {
                    let edit = Edit.random(&random, &names)
                    try edit.make(in: chained, context)
                    try edit.make(in: direct, single)
                    #expect(try chained.state(in: context) == direct.state(in: single), "seed \(seed): \(edit)")
                }
            }
            for context in chained.contexts.dropFirst().reversed() {
                try context.save()
                #expect(!context.hasChanges)
                #expect(try chained.state(in: try #require(context.parent)) == direct.state(in: single), "seed \(seed)")
            }
            if random.number(2) == 0 {
                try root.save()
                try single.save()
                #expect(try chained.file() == direct.file(), "seed \(seed)")
                for context in chained.contexts { context.processPendingChanges() }
            }
            for context in chained.contexts {
                #expect(try chained.state(in: context) == direct.state(in: single), "seed \(seed)")
            }
        }
        try root.save()
        try single.save()
        #expect(try chained.file() == direct.file(), "seed \(seed)")
        for context in chained.contexts + direct.contexts { context.reset() }
    }
}
