// A reader of news, in two forms: flawed and repaired.
//
//     News <store> flawed|repaired prepare
//     News <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "import": try importStories()
        case "unread": try countUnread()
        case "latest": try showLatest()
        case "older": try turnBack()
        case "marked": try showMarked()
        case "read": try markAllRead()
        case "expired": try deleteExpired()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// Takes over two hundred stories, of which a hundred are known.
    private func importStories() throws {
        let numbers = 2900..<3100
        var (stories, publishers): ([String: Story], [String: Publisher]) = ([:], [:])
        if !isFlawed {
            let request = FetchRequest<Story>(predicate: .isIn("identifier", numbers.map { "story/\($0)" }))
            for story in try context.fetch(request) { stories[story.identifier] = story }
            for publisher in try context.fetch(FetchRequest<Publisher>()) { publishers[publisher.name] = publisher }
        }
        for number in numbers {
            let (identifier, name) = ("story/\(number)", "Publisher \(number % 25)")
            if isFlawed {
                let request = FetchRequest<Story>(predicate: PropertyPath("identifier") == identifier)
                stories[identifier] = try context.fetch(request).first  // known by its identifier
                let publisher = FetchRequest<Publisher>(predicate: PropertyPath("name") == name)
                publishers[name] = try context.fetch(publisher).first
            }
            let story = stories[identifier] ?? Story(context: context)
            if stories[identifier] == nil {
                story[Story.identifierKey] = identifier
                (story[Story.isReadKey], story[Story.isMarkedKey]) = (false, false)
            }
            set(story, number: number + 1, publisher: publishers[name])
            if isFlawed {
                try context.save()  // one story
            }
        }
        try context.save()
    }

    /// How many stories of each publisher are unread.
    private func countUnread() throws {
        guard isFlawed else {
            var request = FetchRequest<Story>(predicate: PropertyPath("isRead") == false)
            let count = ExpressionDescription("count", .function(.count, "self"))
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["publisher", count])
            request.propertiesToGroupBy = ["publisher"]
            print(try context.fetchDictionaries(request).count)
            return
        }
        let request = FetchRequest<Publisher>(sortDescriptors: [.ascending("name")])
        for publisher in try context.fetch(request) {  // with unread stories
            print(publisher.name, publisher.stories.count { !$0.isRead })
        }
    }

    /// The headlines of the first screen.
    private func showLatest() throws {
        var request = FetchRequest<Story>(sortDescriptors: [.descending("publishedAt")])
        if !isFlawed { (request.fetchLimit, request.propertiesToFetch) = (30, ["headline"]) }
        let stories = try context.fetch(request)  // the latest
        for story in stories.prefix(30) { print(story.headline) }
    }

    /// Sixty pages back.
    private func turnBack() throws {
        var request = FetchRequest<Story>(sortDescriptors: [.descending("publishedAt")], fetchLimit: 40)
        request.propertiesToFetch = ["headline", "publishedAt"]
        for _ in 0..<60 {
            let page = try context.fetch(request)  // one page back
            for story in page { print(story.headline) }
            if isFlawed {
                request.fetchOffset += 40
            } else if let last = page.last {
                request.predicate = PropertyPath("publishedAt") < last.publishedAt
            }
        }
    }

    /// The marked stories, each time that the list is shown.
    private func showMarked() throws {
        var request = FetchRequest<Story>(
            predicate: PropertyPath("isMarked") == true, sortDescriptors: [.descending("publishedAt")])
        request.propertiesToFetch = ["headline"]
        let kept = isFlawed ? nil : try context.fetch(request)
        for _ in 0..<8 {
            let stories = try kept ?? context.fetch(request)  // marked
            print(stories.map(\.headline))
            if isFlawed {
                context.refreshAllObjects()
            }
        }
    }

    /// Nothing is left to read.
    private func markAllRead() throws {
        let request = FetchRequest<Story>(predicate: PropertyPath("isRead") == false)
        guard isFlawed else {
            print(
                try context.execute(
                    BatchUpdateRequest(fetchRequest: request, propertiesToUpdate: ["isRead": .value(true)])
                ).objectIDs.count)
            return
        }
        for story in try context.fetch(request) {  // to be marked as read
            story[Story.isReadKey] = true
        }
        try context.save()
    }

    /// Deletes the stories that are more than a few days old.
    private func deleteExpired() throws {
        let day = Date(timeIntervalSince1970: 1_780_000_000 + 600 * 600)
        let request = FetchRequest<Story>(predicate: PropertyPath("publishedAt") < day)
        guard isFlawed else {
            print(try context.execute(BatchDeleteRequest(fetchRequest: request)).objectIDs.count)
            return
        }
        for story in try context.fetch(request) {  // expired
            context.delete(story)
        }
        try context.save()
    }
}

let application = Application()
let container = try application.container(
    "News", makeModel(isIndexed: !application.isFlawed), classes: [Publisher.self, Story.self])
try application.run(
    container, scopes: ["import": .bulk, "latest": .screen, "marked": .screen, "read": .bulk, "expired": .bulk],
    prepare: fill
) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
