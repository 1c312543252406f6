import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite(
    "Saves keep Core Data's own bookkeeping intact, or do not start",
    .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct CoreDataSavingTests {
    /// Returns every row of every table, as SQLite prints it.
    private func dump(_ url: URL) throws -> [String: [String]] {
        var dump: [String: [String]] = [:]
        for table in try SQLShell.run("SELECT name FROM sqlite_master WHERE type = 'table'", url) {
            dump[table] = try SQLShell.cells("SELECT rowid AS rowid, * FROM \(table) ORDER BY rowid", url).map { row in
                row.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.text($0.value))" }.joined(separator: " ")
            }
        }
        dump["sqlite_master"] = try SQLShell.run("SELECT sql FROM sqlite_master ORDER BY name", url)
        return dump
    }

    private static func text(_ cell: Cell) -> String {
        switch cell {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .blob(let value): value.base64EncodedString()
        }
    }

    /// Returns the rows that are in only one of two dumps.
    private func differences(
        _ before: [String: [String]], _ after: [String: [String]]
    ) -> [String: (gone: [String], new: [String])] {
        #expect(before.keys.sorted() == after.keys.sorted())
        var found: [String: (gone: [String], new: [String])] = [:]
        for (table, rows) in before where rows != after[table] {
            let (old, new) = (Set(rows), Set(after[table] ?? []))
            found[table] = (old.subtracting(new).sorted(), new.subtracting(old).sorted())
        }
        return found
    }

    private func objects(_ context: ManagedObjectContext, _ entity: String, _ sort: String) throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: entity, sortDescriptors: [.ascending(sort)])).map {
            $0
        }
    }

    @Test("Inserting, changing, deleting and relating objects touches only the expected rows")
    func plain() throws {
        let url = try CoreDataFixture.sample1.copy()
        let before = try dump(url)
        let context = try CoreDataFixture.sample1.open(url).newBackgroundContext()
        let cars = try objects(context, "Car", "numberPlate")
        let people = try objects(context, "Person", "lastName")
        let (deleted, changed) = (cars[0], cars[1])
        let (deletedKey, changedKey) = (CoreDataReadingTests.key(deleted), CoreDataReadingTests.key(changed))
        context.delete(deleted)
        changed["maker"] = "Faultline"
        changed["owner"] = people[0]
        let new = context.insertNewObject(forEntityName: "ExpensiveSportCar")
        new["numberPlate"] = "NEW"
        new["isLimitedEdition"] = true
        new["color"] = Data([1, 2, 3])
        new["owner"] = people[1]
        try context.save()

        let differences = differences(before, try dump(url))
        // Each person's version is incremented, because the person got a car.
        #expect(differences.keys.sorted() == ["ZCAR", "ZPERSON", "Z_PRIMARYKEY"])
        #expect(differences["ZPERSON"]?.new.count == 2)
        #expect(differences["Z_PRIMARYKEY"]?.new == ["Z_ENT=1 Z_MAX=126 Z_NAME=Car Z_SUPER=0 rowid=1"])
        #expect(differences["ZCAR"]?.gone.count == 2 && differences["ZCAR"]?.new.count == 2)
        #expect(try SQLShell.run("SELECT COUNT(*) FROM ZCAR WHERE Z_PK = \(deletedKey)", url) == ["0"])
        #expect(
            try SQLShell.run("SELECT Z_OPT, ZMAKER, ZOWNER FROM ZCAR WHERE Z_PK = \(changedKey)", url)
                == ["2|Faultline|\(CoreDataReadingTests.key(people[0]))"])
        #expect(
            try SQLShell.run(
                "SELECT Z_PK, Z_ENT, Z_OPT, ZISLIMITEDEDITION, hex(ZCOLOR), ZOWNER FROM ZCAR WHERE ZNUMBERPLATE = 'NEW'",
                url)
                == ["126|3|1|1|010203|\(CoreDataReadingTests.key(people[1]))"])
        #expect(try SQLShell.run("PRAGMA integrity_check", url) == ["ok"])
    }

    @Test("A store with persistent history is not written unless the program allows it")
    func history() throws {
        let url = try CoreDataFixture.books.copy()
        let container = try CoreDataFixture.books.open(url)
        let context = container.newBackgroundContext()
        let before = try dump(url)
        let page = try objects(context, "Page", "number")[0]
        page["isBookmarked"] = true
        #expect(
            performing { try context.save() }
                == "Saving in '\(url.path)' is refused because the store keeps a history of its changes (table ATRANSACTION), in which this one would be missing; set tracksPersistentHistory, or ignoresPersistentHistory if nothing reads the history."
        )
        context.insertNewObject(forEntityName: "Feedback")["comment"] = "x"
        #expect(performing { try context.save() } != "no error")
        #expect(try dump(url) == before)
        #expect(context.hasChanges)
    }

    private func openBooks(_ url: URL) throws -> PersistentContainer {
        try CoreDataFixture.books.open(url) { $0.ignoresPersistentHistory = true }
    }

    @Test("The store's triggers maintain derived attributes, and objects show the new values")
    func derived() throws {
        let url = try CoreDataFixture.books.copy()
        let before = try dump(url)
        let container = try openBooks(url)
        let context = container.newBackgroundContext()
        let books = try objects(context, "Book", "title")
        let (first, second) = (books[0], books[1])
        func stored(_ book: ManagedObject) throws -> [String] {
            let key = CoreDataReadingTests.key(book)
            return try SQLShell.run(
                "SELECT ZPAGESCOUNT, Z_OPT, (SELECT COUNT(*) FROM ZPAGE WHERE ZBOOK = \(key)) FROM ZBOOK WHERE Z_PK = \(key)",
                url)
        }
        let (one, two) = (
            try #require(first["pagesCount"] as? Int64), try #require(second["pagesCount"] as? Int64)
        )
        #expect(try stored(first) == ["\(one)|1|\(one)"])

        let page = context.insertNewObject(forEntityName: "Page")
        page["number"] = 1000
        page["content"] = Data([0])
        page["book"] = first
        try context.save()
        #expect(try stored(first) == ["\(one + 1)|2|\(one + 1)"])
        #expect(first["pagesCount"] as? Int64 == one + 1)
        let entity = try SQLShell.run("SELECT Z1_BOOK FROM ZPAGE WHERE Z_PK = 4971", url)
        #expect(
            entity == [
                try SQLShell.run("SELECT Z_ENT FROM ZBOOK WHERE Z_PK = \(CoreDataReadingTests.key(first))", url)[0]
            ])

        page["book"] = second
        try context.save()
        #expect(first["pagesCount"] as? Int64 == one)
        #expect(second["pagesCount"] as? Int64 == two + 1)
        #expect(try stored(second) == ["\(two + 1)|2|\(two + 1)"])

        context.delete(page)
        second["title"] = "Another"
        try context.save()
        #expect(second["pagesCount"] as? Int64 == two)
        #expect(try stored(second) == ["\(two)|3|\(two)"])

        let new = context.insertNewObject(forEntityName: "GraphicNovel")
        new["title"] = "New"
        new["price"] = Decimal(string: "12.5")
        new["publishedAt"] = Date(timeIntervalSinceReferenceDate: 0)
        new["uniqueID"] = UUID()
        new["cover"] = Data([9])
        new["author"] = second["author"]
        for number in 1...3 {
            let page = context.insertNewObject(forEntityName: "Page")
            page["number"] = number
            page["content"] = Data([0])
            page["book"] = new
        }
        try context.save()
        #expect(new["pagesCount"] as? Int64 == 3)
        #expect(try stored(new) == ["3|1|3"])
        let other = try container.newBackgroundContext().existingObject(with: new.objectID)
        #expect(other["pagesCount"] as? Int64 == 3)

        let changes = differences(before, try dump(url))
        #expect(changes.keys.sorted() == ["ZBOOK", "ZPAGE", "ZWRITER", "Z_PRIMARYKEY"])
        #expect(changes["ZPAGE"]?.gone.isEmpty == true && changes["ZPAGE"]?.new.count == 3)
        #expect(changes["ZBOOK"]?.gone.count == 2 && changes["ZBOOK"]?.new.count == 3)
        #expect(
            changes["Z_PRIMARYKEY"]?.new == [
                "Z_ENT=1 Z_MAX=53 Z_NAME=Book Z_SUPER=0 rowid=1", "Z_ENT=4 Z_MAX=4974 Z_NAME=Page Z_SUPER=0 rowid=4",
            ])
        #expect(try SQLShell.run("PRAGMA integrity_check", url) == ["ok"])
    }

    @Test("Setting a derived attribute makes the save fail")
    func setDerived() throws {
        let url = try CoreDataFixture.books.copy()
        let context = try openBooks(url).newBackgroundContext()
        let book = try objects(context, "Book", "title")[0]
        book["pagesCount"] = 5
        #expect(
            performing { try context.save() }
                == "Saving \(book.entityName) \(book.objectID): 'pagesCount' is derived by the store and cannot be set; undo the change."
        )
    }

    @Test("A save is refused if only Core Data can maintain a trigger, index or derived attribute")
    func obstacles() throws {
        func refusal(_ change: String) throws -> String {
            let url = try CoreDataFixture.books.copy()
            try SQLShell.run(change, url)
            let context = try openBooks(url).newBackgroundContext()
            let before = try dump(url)
            try objects(context, "Feedback", "comment")[0]["comment"] = "x"
            let message = performing { try context.save() }
            if message != "no error" { #expect(try dump(url) == before) }
            let (start, end) = ("Saving in '\(url.path)' is refused because ", ".")
            return message.hasPrefix(start) ? String(message.dropFirst(start.count).dropLast(end.count)) : message
        }
        #expect(
            try refusal(
                "CREATE TRIGGER T AFTER UPDATE OF ZRATING ON ZFEEDBACK BEGIN SELECT NSCoreDataSomething(NEW.Z_PK); END")
                == "its table ZFEEDBACK has a trigger or an index that cannot run here (no such function: NSCoreDataSomething); save it with Core Data"
        )
        #expect(
            try refusal(
                "DROP TRIGGER Z_DA_ZBOOK_Book_pagesCount_SOURCE_INSERT; DROP TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT; DROP TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_UPDATE_INCREMENT; DROP TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_UPDATE_DECREMENT; DROP TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_DELETE"
            )
                == "'Book.pagesCount' is derived, but none of its triggers computes it; save it with Core Data, or do not derive the attribute"
        )
        // Triggers of other tables do not matter, and one that can run here is allowed.
        #expect(
            try refusal("CREATE TRIGGER T AFTER INSERT ON ZPAGE BEGIN SELECT NSCoreDataSomething(NEW.Z_PK); END")
                == "no error")
        #expect(
            try refusal(
                "CREATE VIRTUAL TABLE Z_RT_Feedback_byRating USING RTREE (Z_PK INTEGER PRIMARY KEY, ZRATING_MIN FLOAT, ZRATING_MAX FLOAT); CREATE TRIGGER T AFTER UPDATE ON ZFEEDBACK BEGIN INSERT OR REPLACE INTO Z_RT_Feedback_byRating VALUES (NEW.Z_PK, NEW.ZRATING, NEW.ZRATING); END"
            ) == "no error")
    }

    @Test("An ordered relationship written by Core Data is read, changed and preserved")
    func ordered() throws {
        let url = try CoreDataFixture.bookmarks3.copy()
        // The rows that Core Data writes for a folder of five bookmarks added in the order 3, 5, 2, 6, 4.
        try SQLShell.run(
            "INSERT INTO ZBOOKMARKENTITY (Z_PK, Z_ENT, Z_OPT, ZISFOLDER, ZTITLE, ZUUID) VALUES (1, 1, 1, 1, 'Folder', 'f');"
                + [(3, 2048), (5, 4096), (2, 6144), (6, 8192), (4, 10240)].map { key, order in
                    "INSERT INTO ZBOOKMARKENTITY (Z_PK, Z_ENT, Z_OPT, ZISFOLDER, ZPARENT, Z_FOK_PARENT, ZFAVORITEFOLDER, Z_FOK_FAVORITEFOLDER, ZTITLE, ZUUID) VALUES (\(key), 1, 1, 0, 1, \(order), 1, \(20000 - order), 'b\(key)', 'u\(key)');"
                }.joined()
                + "UPDATE Z_PRIMARYKEY SET Z_MAX = 6", url)
        let before = try dump(url)
        let container = try CoreDataFixture.bookmarks3.open(url)
        let context = container.newBackgroundContext()
        let folder = try objects(context, "BookmarkEntity", "title").first { $0["title"] as? String == "Folder" }!
        let children = try #require(folder["children"] as? OrderedToMany<ManagedObject>)
        let favorites = try #require(folder["favorites"] as? OrderedToMany<ManagedObject>)
        #expect(children.map { $0["title"] as? String } == ["b3", "b5", "b2", "b6", "b4"])
        #expect(favorites.map { $0["title"] as? String } == ["b4", "b6", "b2", "b5", "b3"])

        let new = context.insertNewObject(forEntityName: "BookmarkEntity")
        new["title"] = "new"
        new["uuid"] = "n"
        new["isFolder"] = false
        children.insert(new, at: 1)
        children.move(from: 5, to: 0)
        context.delete(children[4])
        try context.save()
        let rows = try SQLShell.run(
            "SELECT ZTITLE, Z_FOK_PARENT, Z_FOK_FAVORITEFOLDER FROM ZBOOKMARKENTITY WHERE ZPARENT = 1 ORDER BY Z_FOK_PARENT",
            url)
        #expect(rows == ["b4|1024|9760", "b3|2048|17952", "new|3072|NULL", "b5|4096|15904", "b6|8192|11808"])
        let changes = differences(before, try dump(url))
        #expect(changes.keys.sorted() == ["ZBOOKMARKENTITY", "Z_PRIMARYKEY"])
        #expect(changes["Z_PRIMARYKEY"]?.new == ["Z_ENT=1 Z_MAX=7 Z_NAME=BookmarkEntity Z_SUPER=0 rowid=1"])
        #expect(changes["ZBOOKMARKENTITY"]?.gone.count == 3 && changes["ZBOOKMARKENTITY"]?.new.count == 3)

        let other = try container.newBackgroundContext().existingObject(with: folder.objectID)
        let read = try #require(other["children"] as? OrderedToMany<ManagedObject>)
        #expect(read.map { $0["title"] as? String } == ["b4", "b3", "new", "b5", "b6"])
        #expect(try SQLShell.run("PRAGMA integrity_check", url) == ["ok"])
    }
}
