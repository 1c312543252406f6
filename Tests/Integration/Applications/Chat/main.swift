// A chat that does the same in two forms: as it should not be done, and as it should.
//
//     Chat <store> flawed|repaired prepare
//     Chat <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineRecorder
import FaultlineStore
import Foundation

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "readTrains": try readTrains()
        case "authors": try authors()
        case "rooms": try rooms()
        case "sized": try sized()
        case "order": try order()
        case "sections": try sections()
        case "list": try list()
        case "partial": try partial()
        case "prefetch": try prefetch()
        case "profiles": try profiles()
        case "moderators": try moderators()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// Read messages about trains: most messages are read, so that an index over that finds nearly all of them.
    private func readTrains() throws {
        for word in ["train", "noon", "leaves", "zebra"] {
            let predicate = PropertyPath("isRead") == true && PropertyPath("text").contains(word)
            let found = try context.fetch(FetchRequest<Message>(predicate: predicate, fetchBatchSize: 50))  // read
            print(word, found.prefix(20).map { "\($0.number) \($0.text)" })
        }
    }

    /// The messages of some members.
    private func authors() throws {
        let names = [7, 700, 1400, 2100, 2800].map { "Member \($0)" }
        guard isFlawed else {
            let request = FetchRequest<Message>(
                predicate: PropertyPath("author.name").isIn(names), relationshipKeyPathsForPrefetching: ["author"])
            let messages = Dictionary(grouping: try context.fetch(request)) { $0.author?.name ?? "" }
            for name in names { print(messages[name, default: []].map { "\($0.number) \($0.text)" }) }
            return
        }
        for name in names {
            let predicate = PropertyPath("author.name") == name
            let found = try context.fetch(FetchRequest<Message>(predicate: predicate))  // by author's name
            print(found.map { "\($0.number) \($0.text)" })
        }
    }

    /// Rooms in which something of a size was said.
    private func rooms() throws {
        for size in [7, 17, 27, 37, 47] {
            let request = FetchRequest<Room>(predicate: try FetchPredicate(format: "ANY messages.size == %d", size))
            let found = try context.fetch(request)  // by what was said
            print(found.map(\.name))
        }
    }

    /// Messages of one size that have a word: sixty texts are compared, with an index or without.
    private func sized() throws {
        for word in ["train", "noon", "leaves", "there"] {
            let predicate = PropertyPath("size") == 7 && PropertyPath("text").contains(word)
            let found = try context.fetch(FetchRequest<Message>(predicate: predicate))  // of a size
            print(word, found.map { "\($0.number) \($0.text) \($0.size)" })
        }
    }

    /// The same with three thousand texts compared.
    private func order() throws {
        for word in ["train", "noon", "leaves", "there"] {
            let text = PropertyPath("text").contains(word, options: [.caseInsensitive, .diacriticInsensitive])
            let size = PropertyPath("size") < 2
            let predicate = isFlawed ? text && size : size && text
            let found = try context.fetch(FetchRequest<Message>(predicate: predicate))  // in the wrong order
            print(word, found.map { "\($0.number) \($0.text) \($0.size)" })
        }
    }

    /// A list of all messages by day, of which a screen shows twenty.
    private func sections() throws {
        var request = FetchRequest<Message>(
            sortDescriptors: [.ascending("day"), .ascending("number")], fetchBatchSize: isFlawed ? 0 : 30)
        if !isFlawed { request.propertiesToFetch = ["day", "text"] }
        let controller = FetchedResultsController(  // shown by day
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "day")
        try controller.performFetch()
        for screen in 0..<6 {
            let rows = controller.sections?[screen].numberOfObjects ?? 0
            Faultline.scope("screenful", kind: .screen) {
                for row in 0..<min(20, rows) {
                    print(controller.object(at: IndexPath(item: row, section: screen)).text)
                }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    /// The same without sections.
    private func list() throws {
        var request = FetchRequest<Message>(sortDescriptors: [.descending("number")], fetchBatchSize: isFlawed ? 0 : 30)
        if !isFlawed { request.propertiesToFetch = ["text"] }
        let found = try context.fetch(request)  // shown as a list
        for screen in 0..<6 {
            Faultline.scope("screenful", kind: .screen) {
                for row in 0..<20 { print(found[screen * 20 + row].text) }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    /// The first messages without their photos.
    private func partial() throws {
        for page in 0..<10 {
            var request = FetchRequest<Message>(
                predicate: PropertyPath("number") < 300, sortDescriptors: [.ascending("number")], fetchLimit: 30,
                fetchOffset: 30 * page)
            if !isFlawed { request.propertiesToFetch = ["number", "text", "size"] }
            let found = try context.fetch(request)  // with photos
            print(found.map { "\($0.number) \($0.text) \($0.size)" })
        }
        let shown = try context.fetch(
            FetchRequest<Message>(predicate: PropertyPath("number") < 3))  // with their photos
        print(shown.map { $0.photo?.count ?? 0 })
    }

    /// Messages with authors that nobody looks at, sorted.
    private func prefetch() throws {
        for page in 0..<10 {
            var request = FetchRequest<Message>(
                sortDescriptors: [.ascending("text")], fetchLimit: 100, fetchOffset: 100 * page)
            if isFlawed {
                request.relationshipKeyPathsForPrefetching = ["author"]
            } else {
                request.propertiesToFetch = ["number", "text", "size", "day"]
            }
            let found = try context.fetch(request)  // sorted, with authors
            print(found.map { "\($0.number) \($0.text) \($0.size) \($0.day)" })
        }
    }

    /// Members with their mottos.
    private func profiles() throws {
        for page in 0..<10 {
            let request = FetchRequest<Member>(
                sortDescriptors: [.ascending("name")], fetchLimit: 100, fetchOffset: 100 * page)
            let found = try context.fetch(request)  // members
            print(found.map { "\($0.name) \(isFlawed ? $0.profile?.motto ?? "" : "")" })
        }
    }

    /// Moderators with theirs.
    private func moderators() throws {
        let found = try context.fetch(FetchRequest<Moderator>())  // moderators
        print(found.map { "\($0.name) \(isFlawed ? $0.profile?.motto ?? "" : "")" })
    }
}

let application = Application()
let container = try application.container(
    "Chat", makeModel(isIndexed: !application.isFlawed),
    classes: [Room.self, Message.self, Member.self, Moderator.self, Profile.self])
try application.run(container, scopes: ["sections": .screen, "list": .screen], prepare: fill) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
