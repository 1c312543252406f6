import FaultlineModel
import FaultlineStore
import Foundation

final class Record: ManagedObject {
    static let remoteIDKey = AttributeKey<String>("remoteID")
    static let titleKey = AttributeKey<String>("title")
    static let revisionKey = AttributeKey<Int>("revision")
    static let isPendingKey = AttributeKey<Bool>("isPending")
    var remoteID: String { self[Self.remoteIDKey] }
    var title: String { self[Self.titleKey] }
    var revision: Int { self[Self.revisionKey] }
}

final class Account: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let cursorKey = AttributeKey<Int>("cursor")
    var cursor: Int { self[Self.cursorKey] }
}

func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Record",
            attributes: [
                AttributeDescription("remoteID", .string, isOptional: false),
                AttributeDescription("title", .string, isOptional: false),
                AttributeDescription("revision", .integer64, isOptional: false),
                AttributeDescription("isPending", .boolean, isOptional: false),
            ],
            indexes: [FetchIndexDescription("byPending", on: "isPending")], uniquenessConstraints: [["remoteID"]]),
        EntityDescription(
            "Account",
            attributes: [
                AttributeDescription("name", .string, isOptional: false),
                AttributeDescription("cursor", .integer64, isOptional: false),
            ], uniquenessConstraints: [["name"]]),
    ])
}

/// Makes a record.
func makeRecord(_ number: Int, in context: ManagedObjectContext) {
    let record = Record(context: context)
    record[Record.remoteIDKey] = "remote/\(number)"
    record[Record.titleKey] = "Record \(number)"
    record[Record.revisionKey] = 1
    record[Record.isPendingKey] = number % 40 == 0
}

/// Two thousand records, of which fifty wait to be sent, and three accounts.
func fill(_ context: ManagedObjectContext) throws {
    for number in 0..<2000 { makeRecord(number, in: context) }
    for name in ["Berlin", "Oslo", "Rome"] {
        let account = Account(context: context)
        (account[Account.nameKey], account[Account.cursorKey]) = (name, 0)
    }
    try context.save()
}
