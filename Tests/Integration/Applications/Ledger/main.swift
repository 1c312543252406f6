// A ledger that does the same in two forms: as it should not be done, and as it should.
//
//     Ledger <store> flawed|repaired prepare
//     Ledger <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool
    let container: PersistentContainer

    func run(_ scenario: String) throws {
        switch scenario {
        case "total": try total()
        case "balances": try balances()
        case "purge": try purge()
        case "purgeByPage": try purgeByPage()
        case "close": try close()
        case "closeAndPrint": try closeAndPrint()
        case "journal": try journal()
        case "remind": try remind()
        case "correct": try correct()
        case "statement": try statement()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// The sum of all accounts.
    private func total() throws {
        guard isFlawed else {
            var request = FetchRequest<Entry>()
            request.resultType = .dictionary
            request.propertiesToFetch = [ExpressionDescription("sum", .function(.sum, "cents"))]
            print(try context.fetchDictionaries(request)[0]["sum"] ?? .integer(0))
            return
        }
        let entries = try context.fetch(FetchRequest<Entry>())  // added up
        print(entries.reduce(0) { $0 + $1.amount })
    }

    /// The balance of each account.
    private func balances() throws {
        let sum = ExpressionDescription("sum", .function(.sum, "cents"))
        guard isFlawed else {
            var request = FetchRequest<Entry>()
            request.resultType = .dictionary
            request.propertiesToGroupBy = ["account.name"]
            request.propertiesToFetch = ["account.name", sum]
            for row in try context.fetchDictionaries(request) { print(row) }
            return
        }
        for account in try context.fetch(FetchRequest<Account>(sortDescriptors: [.ascending("number")])) {
            var request = FetchRequest<Entry>(predicate: PropertyPath("account") == account.objectID)
            request.resultType = .dictionary
            request.propertiesToFetch = [sum]
            let found = try context.fetchDictionaries(request)  // one account's
            print(account.name, found[0]["sum"] ?? .integer(0))
        }
    }

    /// Entries that need not be kept any longer.
    private func purge() throws {
        let old = FetchRequest<Entry>(predicate: PropertyPath("bookedAt") < newYear + 3 * monthLength)
        guard isFlawed else {
            print(try context.execute(BatchDeleteRequest(fetchRequest: old)).count)
            return
        }
        let entries = try context.fetch(old)  // to be deleted
        for entry in entries { context.delete(entry) }
        try context.save()
    }

    /// The same with a save after every five hundred, for the sake of memory.
    private func purgeByPage() throws {
        let old = FetchRequest<Entry>(predicate: PropertyPath("bookedAt") < newYear + 3 * monthLength, fetchLimit: 500)
        guard isFlawed else {
            print(try context.execute(BatchDeleteRequest(fetchRequest: old)).count)
            return
        }
        while true {
            let entries = try context.fetch(old)  // a page to be deleted
            if entries.isEmpty { break }
            for entry in entries { context.delete(entry) }
            try context.save()
        }
    }

    /// Closes the open months.
    private func close() throws {
        let open = FetchRequest<Entry>(
            predicate: PropertyPath("month") >= "2026-06" && PropertyPath("isClosed") == false)
        guard isFlawed else {
            let update = BatchUpdateRequest(fetchRequest: open, propertiesToUpdate: ["isClosed": .value(true)])
            print(try context.execute(update).count)
            return
        }
        for entry in try context.fetch(open) {  // to be closed
            entry.isClosed = true
        }
        try context.save()
    }

    /// Closes one month and prints it: that needs the objects.
    private func closeAndPrint() throws {
        let request = FetchRequest<Entry>(
            predicate: PropertyPath("month") == "2026-07", sortDescriptors: [.ascending("number")])
        for entry in try context.fetch(request) {
            print(entry.number, entry.month, entry.text, entry.amount)
            entry.isClosed = true
        }
        try context.save()
    }

    /// The entries of one month with their accounts.
    private func journal() throws {
        var request = FetchRequest<Entry>(
            predicate: PropertyPath("month") == "2026-07", sortDescriptors: [.ascending("number")])
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["account"] }
        let entries = try context.fetch(request)  // with accounts
        for entry in entries { print(entry.number, entry.text, entry.amount, entry.account?.name ?? "") }
    }

    /// Notes what is left to do.
    private func remind() throws {
        for number in 0..<60 {
            let reminder = Reminder(context: context)
            reminder[Reminder.textKey] = "Ask for the receipt of entry \(number)"
            reminder[Reminder.isDoneKey] = false
            if isFlawed {
                try context.save()  // one reminder
            }
        }
        try context.save()
    }

    /// Corrects entries that somebody else closes in the meantime.
    private func correct() throws {
        if !isFlawed { context.mergePolicy = .mergeByPropertyObjectTrump }
        let request = FetchRequest<Entry>(
            predicate: PropertyPath("month") == "2026-08", sortDescriptors: [.ascending("number")], fetchLimit: 3)
        for entry in try context.fetch(request) {
            entry[Entry.textKey] = "\(entry.text), corrected"
            let other = container.newBackgroundContext()
            try other.performAndWait {
                (try other.existingObject(with: entry.objectID) as? Entry)?.isClosed = true
                try other.save()
            }
            do {
                try context.save()  // one correction
            } catch {
                context.rollback()
            }
        }
    }

    /// Prints entries, of which some are deleted in the meantime.
    private func statement() throws {
        let request = FetchRequest<Entry>(
            predicate: PropertyPath("month") == "2026-08", sortDescriptors: [.ascending("number")], fetchLimit: 20)
        let entries = try context.fetch(request)
        let other = container.newBackgroundContext()
        try other.performAndWait {
            for id in entries.prefix(12).map(\.objectID) { other.delete(try other.existingObject(with: id)) }
            try other.save()
        }
        for entry in entries {
            if !isFlawed, (try? entry.fulfill()) == nil { continue }
            print(entry.text)  // as if it were there
        }
    }
}

let application = Application()
let container = try application.container("Ledger", makeModel(), classes: [Account.self, Entry.self, Reminder.self])
try application.run(container, scopes: ["purge": .bulk, "close": .bulk], prepare: fill) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed, container: container).run(scenario)
}
