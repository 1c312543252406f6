// A mail program that does the same in two forms: as it should not be done, and as it should.
//
//     Mail <store> flawed|repaired prepare
//     Mail <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "inbox": try inbox()
        case "days": try days()
        case "senders": try senders()
        case "unread": try unread()
        case "badge": try badge()
        case "previews": try previews()
        case "lookUp": try lookUp()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// Scrolls through six screens of twenty rows.
    private func scroll(_ row: (_ screen: Int, _ row: Int) -> String) {
        for screen in 0..<6 {
            Faultline.scope("screenful", kind: .screen) {
                for index in 0..<20 { print(row(screen, index)) }
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    /// All letters, the newest first.
    private func inbox() throws {
        var request = FetchRequest<Letter>(
            sortDescriptors: [.descending("receivedAt")], fetchBatchSize: isFlawed ? 0 : 30)
        if !isFlawed { request.propertiesToFetch = ["subject", "receivedAt"] }
        let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)  // the inbox
        try controller.performFetch()
        scroll { screen, row in
            let letter = controller.object(at: IndexPath(item: screen * 20 + row, section: 0))
            return "\(letter.subject) \(letter.receivedAt)"
        }
    }

    /// The same day by day.
    private func days() throws {
        var request = FetchRequest<Letter>(
            sortDescriptors: [.ascending("day"), .ascending("receivedAt")], fetchBatchSize: isFlawed ? 0 : 30)
        if !isFlawed { request.propertiesToFetch = ["day", "subject"] }
        let controller = FetchedResultsController(  // day by day
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "day")
        try controller.performFetch()
        scroll { screen, row in controller.object(at: IndexPath(item: row, section: screen)).subject }
    }

    /// A list of letters with the names of those who wrote them.
    private func senders() throws {
        var request = FetchRequest<Letter>(sortDescriptors: [.descending("receivedAt")], fetchBatchSize: 30)
        request.propertiesToFetch = isFlawed ? [] : ["subject", "sender"]
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["sender"] }
        let letters = try context.fetch(request)  // with senders
        scroll { screen, row in
            let letter = letters[screen * 20 + row]
            return "\(letter.sender?.name ?? ""): \(letter.subject)"
        }
    }

    /// How many letters of each mailbox are unread.
    private func unread() throws {
        guard isFlawed else {
            var request = FetchRequest<Letter>(predicate: PropertyPath("isRead") == false)
            request.resultType = .dictionary
            request.propertiesToGroupBy = ["mailbox.name"]
            request.propertiesToFetch = ["mailbox.name", ExpressionDescription("count", .function(.count, "subject"))]
            for row in try context.fetchDictionaries(request) { print(row) }
            return
        }
        for mailbox in try context.fetch(FetchRequest<Mailbox>(sortDescriptors: [.ascending("name")])) {
            let request = FetchRequest<Letter>(
                predicate: PropertyPath("mailbox") == mailbox.objectID && PropertyPath("isRead") == false)
            print(mailbox.name, try context.count(for: request))  // of one mailbox
        }
    }

    /// The number on the program's icon.
    private func badge() throws {
        let request = FetchRequest<Letter>(predicate: PropertyPath("isRead") == false)
        if isFlawed {
            print(try context.fetch(request).count)  // on the icon
        } else {
            print(try context.count(for: request))
        }
    }

    /// Subjects and days of the letters of ten days.
    private func previews() throws {
        for day in 10..<20 {
            var request = FetchRequest<Letter>(predicate: PropertyPath("day") == "2026-10-\(day)")
            if !isFlawed { request.propertiesToFetch = ["subject", "day"] }
            let letters = try context.fetch(request)  // two columns
            print(letters.map { "\($0.subject) \($0.day)" })
        }
    }

    /// The senders, by address.
    private func lookUp() throws {
        for number in [7, 700, 1400, 1999] {
            let predicate = PropertyPath("address") == "sender\(number)@example.org"
            let found = try context.fetch(FetchRequest<Sender>(predicate: predicate))  // by address
            print(found.map(\.name))
        }
    }
}

let application = Application()
let container = try application.container(
    "Mail", makeModel(isIndexed: !application.isFlawed), classes: [Mailbox.self, Sender.self, Letter.self])
try application.run(
    container, scopes: ["inbox": .screen, "days": .screen, "senders": .screen], prepare: fill
) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
