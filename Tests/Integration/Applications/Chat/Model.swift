import FaultlineModel
import FaultlineStore
import Foundation

final class Room: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let messagesKey = ToManyKey<Message>("messages")
    var name: String { self[Self.nameKey] }
}

final class Message: ManagedObject {
    static let textKey = AttributeKey<String>("text")
    static let numberKey = AttributeKey<Int>("number")
    static let sizeKey = AttributeKey<Int>("size")
    static let isReadKey = AttributeKey<Bool>("isRead")
    static let dayKey = AttributeKey<String>("day")
    static let photoKey = AttributeKey<Data?>("photo")
    static let roomKey = ToOneKey<Room>("room")
    static let authorKey = ToOneKey<Member>("author")
    var text: String { self[Self.textKey] }
    var number: Int { self[Self.numberKey] }
    var size: Int { self[Self.sizeKey] }
    var day: String { self[Self.dayKey] }
    var photo: Data? { self[Self.photoKey] }
    var room: Room? { self[Self.roomKey] }
    var author: Member? { self[Self.authorKey] }
}

class Member: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let profileKey = ToOneKey<Profile>("profile")
    var name: String { self[Self.nameKey] }
    var profile: Profile? { self[Self.profileKey] }
}

final class Moderator: Member {
    static let sinceKey = AttributeKey<Int>("since")
}

final class Profile: ManagedObject {
    static let mottoKey = AttributeKey<String>("motto")
    static let memberKey = ToOneKey<Member>("member")
    var motto: String { self[Self.mottoKey] }
}

/// - Parameter isIndexed: Whether the model has the indexes that the improved form wants.
func makeModel(isIndexed: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Room", attributes: [AttributeDescription("name", .string, isOptional: false)],
            relationships: [RelationshipDescription("messages", to: "Message", inverse: "room", isToMany: true)]),
        EntityDescription(
            "Message",
            attributes: [
                AttributeDescription("text", .string, isOptional: false),
                AttributeDescription("number", .integer64, isOptional: false),
                AttributeDescription("size", .integer64, isOptional: false),
                AttributeDescription("isRead", .boolean, isOptional: false),
                AttributeDescription("day", .string, isOptional: false), AttributeDescription("photo", .binary),
            ],
            relationships: [
                RelationshipDescription("room", to: "Room", inverse: "messages"),
                RelationshipDescription("author", to: "Member", inverse: "messages"),
            ],
            indexes: !isIndexed
                ? []
                : [
                    FetchIndexDescription("bySize", on: "size"), FetchIndexDescription("byNumber", on: "number"),
                    FetchIndexDescription("byDay", on: "day", "number"), FetchIndexDescription("byText", on: "text"),
                ]),
        EntityDescription(
            "Member", attributes: [AttributeDescription("name", .string, isOptional: false)],
            relationships: [
                RelationshipDescription("profile", to: "Profile", inverse: "member"),
                RelationshipDescription("messages", to: "Message", inverse: "author", isToMany: true),
            ], indexes: isIndexed ? [FetchIndexDescription("byName", on: "name")] : []),
        EntityDescription(
            "Moderator", parent: "Member", attributes: [AttributeDescription("since", .integer64, isOptional: false)]),
        EntityDescription(
            "Profile", attributes: [AttributeDescription("motto", .string, isOptional: false)],
            relationships: [RelationshipDescription("member", to: "Member", inverse: "profile")]),
    ])
}

/// Forty rooms, three thousand members of whom every tenth is a moderator, and three thousand messages.
func fill(_ context: ManagedObjectContext) throws {
    let rooms = (0..<40).map { number in
        let room = Room(context: context)
        room[Room.nameKey] = "Room \(number)"
        return room
    }
    let members = (0..<3000).map { number in
        let member = number.isMultiple(of: 10) ? Moderator(context: context) : Member(context: context)
        member[Member.nameKey] = "Member \(number)"
        (member as? Moderator)?[Moderator.sinceKey] = 2000 + number % 20
        let profile = Profile(context: context)
        profile[Profile.mottoKey] = "Motto of \(number)"
        member[Member.profileKey] = profile
        return member
    }
    for number in 0..<3000 {
        let message = Message(context: context)
        message[Message.textKey] = "\(number) " + (number % 3 == 0 ? "the train leaves at noon" : "let us meet there")
        message[Message.numberKey] = number
        message[Message.sizeKey] = number % 50
        message[Message.isReadKey] = number % 5 != 0
        message[Message.dayKey] = "2026-01-\(10 + number / 150)"
        message[Message.photoKey] = number < 300 ? Data(repeating: 7, count: 20_000) : nil
        message[Message.roomKey] = rooms[number % rooms.count]
        message[Message.authorKey] = members[number * 7 % members.count]
    }
    try context.save()
}
