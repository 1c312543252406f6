// An engine that keeps records in step with a server, in two forms: flawed and repaired.
//
//     Sync <store> flawed|repaired prepare
//     Sync <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation

struct Engine {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "pull": try pull()
        case "insert": try insert()
        case "push": try push()
        case "cursor": try readCursor()
        case "unchanged": try mergeUnchanged()
        case "conflicts": try solveConflicts()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// Takes over what the server has, found by the server's identifiers.
    private func pull() throws {
        let identifiers = (1900..<2050).map { "remote/\($0)" }
        var known: [String: Record] = [:]
        if !isFlawed {
            for record in try context.fetch(FetchRequest<Record>(predicate: .isIn("remoteID", identifiers))) {
                known[record.remoteID] = record
            }
        }
        for (place, identifier) in identifiers.enumerated() {
            if isFlawed {
                let request = FetchRequest<Record>(predicate: PropertyPath("remoteID") == identifier, fetchLimit: 1)
                known[identifier] = try context.fetch(request).first  // by the server's identifier
            }
            if let record = known[identifier] {
                record[Record.revisionKey] += 1
            } else {
                makeRecord(1900 + place, in: context)
            }
        }
        try context.save()
    }

    /// Inserts the new records, with one request for each or one for all.
    private func insert() throws {
        let rows = (3000..<3060).map { number -> [String: AttributeValue] in
            [
                "remoteID": .string("remote/\(number)"), "title": .string("Record \(number)"), "revision": .integer(1),
                "isPending": .boolean(false),
            ]
        }
        guard isFlawed else {
            try context.execute(BatchInsertRequest(entityName: "Record", objects: rows))
            return
        }
        for row in rows {
            try context.execute(BatchInsertRequest(entityName: "Record", objects: [row]))  // one row
        }
    }

    /// Sends the records with local changes.
    private func push() throws {
        let request = FetchRequest<Record>(predicate: PropertyPath("isPending") == true)
        for record in try context.fetch(request) {
            print("PUT", record.remoteID, record.title)
            record[Record.isPendingKey] = false
            if isFlawed {
                try context.save()  // once it is sent
            }
        }
        try context.save()
    }

    /// Reads the account's cursor before each page.
    private func readCursor() throws {
        let known = isFlawed ? nil : try cursor()
        for page in 0..<30 { print(page, try known ?? cursor()) }
    }

    private func cursor() throws -> Int {
        let request = FetchRequest<Account>(predicate: PropertyPath("name") == "Oslo")
        return try context.fetch(request).first?.cursor ?? 0  // how far it is
    }

    /// Merges records that the server has not changed.
    private func mergeUnchanged() throws {
        for record in try context.fetch(FetchRequest<Record>(fetchBatchSize: 500)) {
            let (title, revision) = ("Record \(record.remoteID.dropFirst(7))", 1)
            if isFlawed || record.title != title { record[Record.titleKey] = title }
            if isFlawed || record.revision != revision { record[Record.revisionKey] = revision }
        }
        try context.save()  // as the server has it
    }

    /// Changes records that somebody else changes in the meantime.
    private func solveConflicts() throws {
        if !isFlawed { context.mergePolicy = .mergeByPropertyObjectTrump }
        let request = FetchRequest<Record>(sortDescriptors: [.ascending("remoteID")], fetchLimit: 4)
        for record in try context.fetch(request) {
            record[Record.titleKey] = "\(record.title), edited"
            let server = container.newBackgroundContext()
            try server.performAndWait {
                try server.existingObject(with: record.objectID)[Record.revisionKey] = 2
                try server.save()
            }
            do {
                try context.save()  // edited here and there
            } catch {
                context.rollback()
            }
        }
    }
}

let application = Application()
let container = try application.container("Sync", makeModel(), classes: [Record.self, Account.self])
try application.run(container, scopes: ["push": .bulk, "insert": .bulk], prepare: fill) { scenario, context in
    try Engine(container: container, context: context, isFlawed: application.isFlawed).run(scenario)
}
