// A notebook that does the same in two forms: as it should not be done, and as it should.
//
//     Notes <store> flawed|repaired prepare
//     Notes <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore
import Foundation

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "search": try search()
        case "complete": try complete()
        case "tagged": try tagged()
        case "tags": try tags()
        case "pages": try pages()
        case "newest": try newest()
        case "sketches": try sketches()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// Notes of one folder that have a word.
    private func search() throws {
        for word in ["cafe", "honey", "Cheese", "grapes"] {
            let format = isFlawed ? "text CONTAINS[cd] %@ AND folder < %d" : "folder < %d AND text CONTAINS[cd] %@"
            let predicate =
                isFlawed
                ? try FetchPredicate(format: format, word, 4) : try FetchPredicate(format: format, 4, word)
            let found = try context.fetch(FetchRequest<Note>(predicate: predicate))  // words first
            print(word, found.map { "\($0.number) \($0.text)" })
        }
    }

    /// Titles that begin with what somebody has typed.
    private func complete() throws {
        for text in ["apple 1", "bread 2", "cheese 3", "dates 4", "eggs 5"] {
            let title = PropertyPath("title")
            let predicate = isFlawed ? title.beginsWith(text, options: [.caseInsensitive]) : title.beginsWith(text)
            let found = try context.fetch(FetchRequest<Note>(predicate: predicate))  // typed so far
            print(text, found.map(\.title))
        }
    }

    /// Titles alone, though the tags are prefetched.
    private func tagged() throws {
        for folder in 0..<5 {
            var request = FetchRequest<Note>(
                predicate: PropertyPath("number").between(folder * 400 + 400, and: folder * 400 + 799))
            if isFlawed { request.relationshipKeyPathsForPrefetching = ["tags"] }
            let found = try context.fetch(request)  // with tags that nobody reads
            print(found.map { "\($0.number) \($0.title) \($0.text)" })
        }
    }

    /// Notes with their tags.
    private func tags() throws {
        var request = FetchRequest<Note>(
            predicate: PropertyPath("number").between(1000, and: 1299), sortDescriptors: [.ascending("number")])
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["tags"] }
        let found = try context.fetch(request)  // with their tags
        for note in found {
            print(note.number, note.title, note.text, note[Note.tagsKey].map(\.name).sorted())
        }
    }

    /// All notes page by page.
    private func pages() throws {
        var last = -1
        for page in 0..<40 {
            let request =
                isFlawed
                ? FetchRequest<Note>(sortDescriptors: [.ascending("number")], fetchLimit: 100, fetchOffset: 100 * page)
                : FetchRequest<Note>(
                    predicate: PropertyPath("number") > last, sortDescriptors: [.ascending("number")], fetchLimit: 100)
            let found = try context.fetch(request)  // page by page
            print(found.map { "\($0.number) \($0.title) \($0.text)" })
            last = found.last?.number ?? last
            context.reset()
        }
    }

    /// The notes that were written last, after each new one.
    private func newest() throws {
        for number in 4000..<4005 {
            let note = Note(context: context)
            note[Note.numberKey] = number
            note[Note.titleKey] = "tea \(number)"
            note[Note.textKey] = "\(number) Tea for the week"
            note[Note.folderKey] = number % 80
            note[Note.createdAtKey] = Date(timeIntervalSince1970: 1_790_000_000 + Double(number) * 60)
            try context.save()
            let request = FetchRequest<Note>(sortDescriptors: [.descending("createdAt")], fetchLimit: 20)
            let found = try context.fetch(request)  // the newest
            print(found.map { "\($0.number) \($0.title) \($0.createdAt)" })
            context.reset()
            Thread.sleep(forTimeInterval: 0.15)
        }
    }

    /// Notes that have sketches, and one of the sketches.
    private func sketches() throws {
        for page in 0..<5 {
            let request = FetchRequest<Note>(
                predicate: PropertyPath("number").between(page * 40, and: page * 40 + 39),
                sortDescriptors: [.ascending("number")])
            let found = try context.fetch(request)  // beside their sketches
            print(found.map { "\($0.number) \($0.title) \($0.text)" })
        }
        let shown = try context.fetch(FetchRequest<Note>(predicate: PropertyPath("number") == 3))  // one sketch
        print(shown.map { $0.sketch?.count ?? 0 })
    }
}

let application = Application()
let container = try application.container(
    "Notes", makeModel(isRepaired: !application.isFlawed), classes: [Note.self, Tag.self])
try application.run(container, prepare: fill) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
