import FaultlineModel
import FaultlineStore
import Foundation

final class Mailbox: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let lettersKey = ToManyKey<Letter>("letters")
    var name: String { self[Self.nameKey] }
}

final class Sender: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let addressKey = AttributeKey<String>("address")
    static let lettersKey = ToManyKey<Letter>("letters")
    var name: String { self[Self.nameKey] }
    var address: String { self[Self.addressKey] }
}

final class Letter: ManagedObject {
    static let subjectKey = AttributeKey<String>("subject")
    static let bodyKey = AttributeKey<String>("body")
    static let dayKey = AttributeKey<String>("day")
    static let receivedAtKey = AttributeKey<Date>("receivedAt")
    static let isReadKey = AttributeKey<Bool>("isRead")
    static let mailboxKey = ToOneKey<Mailbox>("mailbox")
    static let senderKey = ToOneKey<Sender>("sender")
    var subject: String { self[Self.subjectKey] }
    var body: String { self[Self.bodyKey] }
    var day: String { self[Self.dayKey] }
    var receivedAt: Date { self[Self.receivedAtKey] }
    var isRead: Bool { self[Self.isReadKey] }
    var sender: Sender? { self[Self.senderKey] }
}

/// - Parameter isIndexed: Whether senders can be found by address, and unread letters without reading all.
func makeModel(isIndexed: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Mailbox", attributes: [AttributeDescription("name", .string, isOptional: false)],
            relationships: [RelationshipDescription("letters", to: "Letter", inverse: "mailbox", isToMany: true)]),
        EntityDescription(
            "Sender",
            attributes: [
                AttributeDescription("name", .string, isOptional: false),
                AttributeDescription("address", .string, isOptional: false),
            ],
            relationships: [RelationshipDescription("letters", to: "Letter", inverse: "sender", isToMany: true)],
            indexes: isIndexed ? [FetchIndexDescription("byAddress", on: "address")] : []),
        EntityDescription(
            "Letter",
            attributes: [
                AttributeDescription("subject", .string, isOptional: false),
                AttributeDescription("body", .string, isOptional: false),
                AttributeDescription("day", .string, isOptional: false),
                AttributeDescription("receivedAt", .date, isOptional: false),
                AttributeDescription("isRead", .boolean, isOptional: false),
            ],
            relationships: [
                RelationshipDescription("mailbox", to: "Mailbox", inverse: "letters"),
                RelationshipDescription("sender", to: "Sender", inverse: "letters"),
            ],
            indexes: [
                FetchIndexDescription("byDate", on: "receivedAt"),
                FetchIndexDescription("byDay", on: "day", "receivedAt"),
            ] + (isIndexed ? [FetchIndexDescription("byRead", on: "isRead", "mailbox")] : [])),
    ])
}

/// Sixty mailboxes, two thousand senders and three thousand letters of two kilobytes, of which a quarter is unread.
func fill(_ context: ManagedObjectContext) throws {
    let mailboxes = (0..<60).map { number in
        let mailbox = Mailbox(context: context)
        mailbox[Mailbox.nameKey] = "Mailbox \(number)"
        return mailbox
    }
    let senders = (0..<2000).map { number in
        let sender = Sender(context: context)
        sender[Sender.nameKey] = "Sender \(number)"
        sender[Sender.addressKey] = "sender\(number)@example.org"
        return sender
    }
    let body = String(repeating: "Thank you for your message. ", count: 75)
    for number in 0..<3000 {
        let letter = Letter(context: context)
        letter[Letter.subjectKey] = "Subject \(number)"
        letter[Letter.bodyKey] = "\(number) \(body)"
        letter[Letter.dayKey] = "2026-10-\(10 + number / 200)"
        letter[Letter.receivedAtKey] = Date(timeIntervalSince1970: 1_790_000_000 + Double(number) * 60)
        letter[Letter.isReadKey] = number % 4 != 0
        letter[Letter.mailboxKey] = mailboxes[number % mailboxes.count]
        letter[Letter.senderKey] = senders[number * 7 % senders.count]
    }
    try context.save()
}
