import FaultlineModel
import FaultlineStore
import Foundation

final class Account: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let numberKey = AttributeKey<Int>("number")
    static let entriesKey = ToManyKey<Entry>("entries")
    var name: String { self[Self.nameKey] }
    var number: Int { self[Self.numberKey] }
}

final class Entry: ManagedObject {
    static let numberKey = AttributeKey<Int>("number")
    static let cents = AttributeKey<Int>("cents")
    static let monthKey = AttributeKey<String>("month")
    static let bookedAtKey = AttributeKey<Date>("bookedAt")
    static let textKey = AttributeKey<String>("text")
    static let isClosedKey = AttributeKey<Bool>("isClosed")
    static let accountKey = ToOneKey<Account>("account")
    var number: Int { self[Self.numberKey] }
    var amount: Int { self[Self.cents] }
    var month: String { self[Self.monthKey] }
    var text: String { self[Self.textKey] }
    var isClosed: Bool {
        get { self[Self.isClosedKey] }
        set { self[Self.isClosedKey] = newValue }
    }
    var account: Account? { self[Self.accountKey] }
}

final class Reminder: ManagedObject {
    static let textKey = AttributeKey<String>("text")
    static let isDoneKey = AttributeKey<Bool>("isDone")
    var text: String { self[Self.textKey] }
}

func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Account",
            attributes: [
                AttributeDescription("name", .string, isOptional: false),
                AttributeDescription("number", .integer64, isOptional: false),
            ],
            relationships: [
                RelationshipDescription(
                    "entries", to: "Entry", inverse: "account", isToMany: true, deleteRule: .cascade)
            ]),
        EntityDescription(
            "Entry",
            attributes: [
                AttributeDescription("number", .integer64, isOptional: false),
                AttributeDescription("cents", .integer64, isOptional: false),
                AttributeDescription("month", .string, isOptional: false),
                AttributeDescription("bookedAt", .date, isOptional: false),
                AttributeDescription("text", .string, isOptional: false),
                AttributeDescription("isClosed", .boolean, isOptional: false),
            ],
            relationships: [RelationshipDescription("account", to: "Account", inverse: "entries")],
            indexes: [
                FetchIndexDescription("byMonth", on: "month", "number"),
                FetchIndexDescription("byDate", on: "bookedAt"),
            ]),
        EntityDescription(
            "Reminder",
            attributes: [
                AttributeDescription("text", .string, isOptional: false),
                AttributeDescription("isDone", .boolean, isOptional: false),
            ]),
    ])
}

/// The first second of 2026, and how long a month is in this ledger.
let newYear = Date(timeIntervalSince1970: 1_767_225_600)
let monthLength = 30.0 * 86_400

/// Two hundred accounts with forty entries each, over ten months.
func fill(_ context: ManagedObjectContext) throws {
    let accounts = (0..<200).map { number in
        let account = Account(context: context)
        account[Account.nameKey] = "Account \(number)"
        account[Account.numberKey] = number
        return account
    }
    for number in 0..<8000 {
        let entry = Entry(context: context)
        let month = number / 800
        entry[Entry.numberKey] = number
        entry[Entry.cents] = (number * 7919) % 200_000 - 90_000
        entry[Entry.monthKey] = "2026-\(month < 9 ? "0" : "")\(month + 1)"
        entry[Entry.bookedAtKey] = newYear + Double(month) * monthLength + Double(number % 800)
        entry[Entry.textKey] = "Invoice \(number) of a supplier, for goods and services"
        entry[Entry.isClosedKey] = month < 5
        entry[Entry.accountKey] = accounts[number * 13 % accounts.count]
    }
    try context.save()
}
