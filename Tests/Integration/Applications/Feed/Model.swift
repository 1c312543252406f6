import FaultlineModel
import FaultlineStore
import Foundation

final class Channel: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let lastKey = ToOneKey<Message>("lastMessage")
    var name: String { self[Self.nameKey] }
}

final class Message: ManagedObject {
    static let textKey = AttributeKey<String>("text")
    static let numberKey = AttributeKey<Int>("number")
    static let sizeKey = AttributeKey<Int>("size")
    static let isReadKey = AttributeKey<Bool>("isRead")
    static let channelKey = ToOneKey<Channel>("channel")
    var text: String { self[Self.textKey] }
    var number: Int { self[Self.numberKey] }
    var channel: Channel? { self[Self.channelKey] }
}

final class Member: ManagedObject {
    static let handleKey = AttributeKey<String>("handle")
    var handle: String { self[Self.handleKey] }
}

func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Channel", attributes: [AttributeDescription("name", .string, isOptional: false)],
            relationships: [
                RelationshipDescription("messages", to: "Message", inverse: "channel", isToMany: true),
                RelationshipDescription("lastMessage", to: "Message", inverse: "lastOf"),
            ]),
        EntityDescription(
            "Message",
            attributes: [
                AttributeDescription("text", .string, isOptional: false),
                AttributeDescription("number", .integer64, isOptional: false),
                AttributeDescription("size", .integer32, isOptional: false),
                AttributeDescription("isRead", .boolean, isOptional: false),
            ],
            relationships: [
                RelationshipDescription("channel", to: "Channel", inverse: "messages"),
                RelationshipDescription("lastOf", to: "Channel", inverse: "lastMessage"),
            ],
            indexes: [
                FetchIndexDescription("byNumber", on: "number"), FetchIndexDescription("bySize", on: "size"),
                FetchIndexDescription("byChannel", on: "channel", "number"),
            ]),
        EntityDescription(
            "Member", attributes: [AttributeDescription("handle", .string, isOptional: false)],
            indexes: [FetchIndexDescription("byHandle", on: "handle")]),
    ])
}

/// Messages come to the channels in turn.
func fill(_ context: ManagedObjectContext, channels: Int, messages: Int) throws {
    let all = (0..<channels).map { number in
        let channel = Channel(context: context)
        channel[Channel.nameKey] = "Channel \(number)"
        return channel
    }
    for number in 0..<channels * messages {
        let (message, channel) = (Message(context: context), all[number % channels])
        message[Message.textKey] = "Message \(number) of somebody"
        message[Message.numberKey] = number
        message[Message.sizeKey] = number % 97
        message[Message.isReadKey] = number % 3 == 0
        message[Message.channelKey] = channel
        channel[Channel.lastKey] = message
    }
    for number in 0..<100 { Member(context: context)[Member.handleKey] = "known \(number)" }
    try context.save()
}
