import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("The history of stores that Core Data wrote, and of stores that are migrated, stays whole")
struct HistoryOfOtherStoresTests {
    private let all = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)

    @Test(
        "A store that Core Data wrote gets transactions after Core Data's own",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func coreData() throws {
        let url = try CoreDataFixture.books.copy()
        let before = try SQLShell.run(
            "SELECT * FROM ACHANGE UNION ALL SELECT *, NULL, NULL, NULL FROM (SELECT Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS FROM ATRANSACTION)",
            url)
        let container = try CoreDataFixture.books.open(url) { $0.tracksPersistentHistory = true }
        let context = container.newBackgroundContext()
        let old = try context.execute(all).transactions
        #expect(old.count == 1)
        #expect(old[0].processID == "xctest" && old[0].bundleID == "com.apple.dt.xctest.tool")
        #expect(old[0].author == nil && old[0].contextName == nil)
        #expect(old[0].timestamp == Date(timeIntervalSinceReferenceDate: 737057647.288022))
        let inserted = try #require(old[0].changes)
        #expect(inserted.count == 5468 && inserted.allSatisfy { $0.changeType == .insert })
        let names = Dictionary(grouping: inserted, by: \.changedObjectID.entityName).mapValues(\.count)
        #expect(names == ["Book": 51, "GraphicNovel": 1, "Feedback": 444, "Page": 4970, "Author": 2])
        // Each row of the store was inserted in that transaction.
        for entity in ["Book", "Feedback", "Page", "Writer"] {
            let ids = Set(try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map(\.objectID))
            #expect(ids.isSubset(of: inserted.map(\.changedObjectID)))
        }

        context.transactionAuthor = "xctest"
        let pages = try context.fetch(
            FetchRequest<ManagedObject>(entityName: "Page", predicate: PropertyPath("isBookmarked") == false))
        let page = try #require(pages.first)
        page["isBookmarked"] = true
        let feedback = context.insertNewObject(forEntityName: "Feedback")
        (feedback["comment"], feedback["bookID"]) = ("x", UUID())
        (feedback["authorAlias"], feedback["rating"]) = ("me", 4.0)
        try context.save()
        let new = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: old[0])).transactions
        #expect(new.map(\.transactionNumber) == [2])
        #expect(new[0].changes?.map(\.changeID) == [5469, 5470])
        #expect(new[0].changes?.last?.updatedProperties == ["isBookmarked"])
        #expect(
            try SQLShell.run("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000", url) == ["5470", "2", "3"])
        // Core Data's name of its own process serves as the author's.
        #expect(
            try SQLShell.run("SELECT ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS FROM ATRANSACTION", url)
                == ["NULL|1|NULL|2", "2|NULL|NULL|\(ProcessInfo.processInfo.processName == "xctest" ? 2 : 3)"])
        #expect(
            try SQLShell.run(
                "SELECT * FROM ACHANGE WHERE Z_PK <= 5468 UNION ALL SELECT *, NULL, NULL, NULL FROM (SELECT Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS FROM ATRANSACTION WHERE Z_PK = 1)",
                url)
                == before)
        #expect(try SQLShell.run("PRAGMA integrity_check", url) == ["ok"])
        context.reset()
    }

    @Test(
        "A history without its table of names is not written",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func otherForm() throws {
        let url = try CoreDataFixture.books.copy()
        try SQLShell.run("DROP TABLE ATRANSACTIONSTRING", url)
        #expect(
            performing { _ = try CoreDataFixture.books.open(url) { $0.tracksPersistentHistory = true } }
                == "The persistent history of '\(url.path)' has the form of another version of Core Data, which cannot be read or written here; leave tracksPersistentHistory unset, and set ignoresPersistentHistory if nothing reads the history."
        )
        _ = try CoreDataFixture.books.open(url)
    }

    // MARK: - Migrations

    private static func entities(_ change: (inout [EntityDescription]) -> Void = { _ in }) -> [EntityDescription] {
        var entities = [
            EntityDescription(
                "Note",
                attributes: [
                    AttributeDescription("text", .string, preservesValueInHistoryOnDeletion: true),
                    AttributeDescription("rank", .integer32),
                    AttributeDescription("uuid", .string, preservesValueInHistoryOnDeletion: true),
                ]),
            EntityDescription("Tag", attributes: [AttributeDescription("label", .string)]),
        ]
        change(&entities)
        return entities
    }

    private func open(_ url: URL, _ entities: [EntityDescription]) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: url)
        description.tracksPersistentHistory = true
        return try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: entities), storeDescription: description)
    }

    private func fill(_ url: URL) throws {
        let container = try open(url, Self.entities())
        let context = container.newBackgroundContext()
        let note = context.insertNewObject(forEntityName: "Note")
        (note["text"], note["uuid"], note["rank"]) = ("a", "u", 1)
        let tag = context.insertNewObject(forEntityName: "Tag")
        try context.save()
        note["rank"] = 2
        tag["label"] = "x"
        try context.save()
        context.delete(note)
        try context.save()
        context.reset()
        try container.close()
    }

    @Test("A migration in place keeps the history, with what it still knows of changed entities")
    func migration() throws {
        let url = try TestStore.makeFolder().appendingPathComponent("Notes.sqlite")
        try fill(url)
        let newer = Self.entities { entities in
            // A new first attribute moves the bits of the others, and one that is renamed and one that is new move the columns.
            entities[0].attributes += [AttributeDescription("author", .string, preservesValueInHistoryOnDeletion: true)]
            entities[0].attributes[0].name = "body"
            entities[0].attributes[0].renamingIdentifier = "text"
            entities.append(EntityDescription("Aardvark"))
        }
        let container = try open(url, newer)
        let context = container.newBackgroundContext()
        let found = try context.execute(all).transactions
        #expect(found.count == 3)
        #expect(
            found.map { $0.changes?.map(\.changedObjectID.entityName) } == [
                ["Note", "Tag"], ["Note", "Tag"], ["Note"],
            ])
        #expect(found[1].changes?.map(\.updatedProperties) == [nil, ["label"]])
        #expect(found[2].changes?.first?.tombstone == ["body": "a", "uuid": "u"])
        let note = context.insertNewObject(forEntityName: "Note")
        (note["body"], note["author"]) = ("b", "c")
        try context.save()
        context.delete(note)
        try context.save()
        let last = try #require(try context.execute(all).transactions.last)
        #expect(last.transactionNumber == 5 && last.changes?.first?.tombstone == ["body": "b", "author": "c"])
        context.reset()
    }

    /// A policy of the program, for which objects are migrated one by one.
    final class NotePolicy: EntityMigrationPolicy {}

    @Test("A migration object by object begins the history anew, and goes on with its numbers")
    func mapping() throws {
        let url = try TestStore.makeFolder().appendingPathComponent("Notes.sqlite")
        try fill(url)
        let store = try open(url, Self.entities())
        let token = try store.persistentStoreCoordinator.currentPersistentHistoryToken()
        try store.close()
        var description = PersistentStoreDescription(url: url)
        description.tracksPersistentHistory = true
        description.migrationPolicies = [NotePolicy.self]
        description.mappingModels = [
            MappingModel(entityMappings: [
                EntityMapping(
                    "Notes", .custom, from: "Note", to: "Note",
                    attributeMappings: ["text", "rank", "uuid"].map { PropertyMapping($0, .source($0)) },
                    entityMigrationPolicyClassName: "Test.NotePolicy"),
                EntityMapping(
                    "Tags", from: "Tag", to: "Tag", attributeMappings: [PropertyMapping("label", .source("label"))]),
            ])
        ]
        let newer = Self.entities { $0[1].attributes.append(AttributeDescription("color", .string)) }
        let context = try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: newer), storeDescription: description
        ).newBackgroundContext()
        #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Tag")) == 1)
        #expect(try context.execute(all).transactions.isEmpty)
        // The token is the last one of the older store, so that nothing after it is missing.
        #expect(try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions.isEmpty)
        _ = context.insertNewObject(forEntityName: "Note")
        try context.save()
        let found = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions
        #expect(found.map(\.transactionNumber) == [4])
        #expect(found[0].changes?.map(\.changeID) == [6])
        context.reset()
    }
}
