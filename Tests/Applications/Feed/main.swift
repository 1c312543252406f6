// A feed of messages in channels that does the same in two forms: as it should not be done, and as it should.
//
//     FeedProgram <store> prepare [channels] [messages of each]
//     FeedProgram <store> naive|improved <scenario>…
//     FeedProgram <store> naive|improved import <members>

import FaultlineModel
import FaultlineRecorder
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

/// Messages come to the channels in turns.
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

struct Program {
    let context: ManagedObjectContext
    let isNaive: Bool

    func run(_ scenario: String) throws {
        try Faultline.scope(scenario, kind: .request) {
            switch scenario {
            case "counts": try countUnread()
            case "sums": try sumSizes()
            case "results": try countResults()
            case "newest": try showNewest()
            case "existing": try openExisting()
            case "objects": try openObjects()
            case "pages": try turnPages()
            case "import": try importMembers()
            case "growth": try grow()
            default: print("There is no scenario '\(scenario)'.")
            }
        }
    }

    private func channels() throws -> FetchResults<Channel> {
        try context.fetch(FetchRequest<Channel>(sortDescriptors: [.ascending("name")]))
    }

    /// Prints a value of the group of each channel.
    private func show(_ groups: [[String: AttributeValue]], _ name: String, of channels: FetchResults<Channel>) {
        var values: [URL: AttributeValue] = [:]
        for group in groups {
            if case .uri(let channel)? = group["channel"] { values[channel] = group[name] }
        }
        for channel in channels { print(channel.name, values[channel.objectID.uriRepresentation()] ?? 0) }
    }

    /// How many unread messages each channel has.
    private func countUnread() throws {
        let channels = try channels()
        guard isNaive else {
            let (ids, isRead) = (channels.map(\.objectID), false)
            // As it is advised, word for word.
            let count = ExpressionDescription("count", .function(.count, "self"))
            var request = FetchRequest<Message>()
            request.predicate =
                FetchPredicate.isIn("channel", objects: ids)
                && PropertyPath("isRead") == isRead
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["channel", count])
            request.propertiesToGroupBy = ["channel"]
            let groups = try context.fetchDictionaries(request)
            return show(groups, "count", of: channels)
        }
        for channel in channels {
            let request = FetchRequest<Message>(
                predicate: PropertyPath("channel") == channel && PropertyPath("isRead") == false)
            print(channel.name, try context.count(for: request))  // counted one by one
        }
    }

    /// How long the messages of each channel are.
    private func sumSizes() throws {
        let (channels, sum) = (try channels(), ExpressionDescription("sum", .function(.sum, "size")))
        guard isNaive else {
            let ids = channels.map(\.objectID)
            var request = FetchRequest<Message>()
            (request.resultType, request.propertiesToFetch) = (.dictionary, [sum])
            request.predicate = .isIn("channel", objects: ids)
            request.propertiesToFetch.append("channel")
            request.propertiesToGroupBy = ["channel"]
            let groups = try context.fetchDictionaries(request)
            return show(groups, "sum", of: channels)
        }
        for channel in channels {
            var request = FetchRequest<Message>(predicate: PropertyPath("channel") == channel)
            (request.resultType, request.propertiesToFetch) = (.dictionary, [sum])
            print(channel.name, try context.fetchDictionaries(request))  // added up one by one
        }
    }

    /// How many messages each channel has.
    private func countResults() throws {
        let channels = try channels()
        guard isNaive else {
            let ids = channels.map(\.objectID)
            let count = ExpressionDescription("count", .function(.count, "self"))
            var request = FetchRequest<Message>()
            request.predicate = .isIn("channel", objects: ids)
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["channel", count])
            request.propertiesToGroupBy = ["channel"]
            let groups = try context.fetchDictionaries(request)
            return show(groups, "count", of: channels)
        }
        for channel in channels {
            let request = FetchRequest<Message>(predicate: PropertyPath("channel") == channel)
            print(channel.name, try context.fetch(request).count)  // fetched to be counted
        }
    }

    /// The newest message of each channel.
    private func showNewest() throws {
        guard isNaive else {
            var request = FetchRequest<Channel>(sortDescriptors: [.ascending("name")])
            request.relationshipKeyPathsForPrefetching = ["lastMessage"]
            for channel in try context.fetch(request) { print(channel.name, channel[Channel.lastKey]?.text ?? "") }
            return
        }
        for channel in try channels() {
            let request = FetchRequest<Message>(
                predicate: PropertyPath("channel") == channel, sortDescriptors: [.descending("number")], fetchLimit: 1)
            print(channel.name, try context.fetch(request).first?.text ?? "")  // fetched for each channel
        }
    }

    /// What somebody has marked: identities that were kept elsewhere.
    private func marked() throws -> [ManagedObjectID] {
        let marks = container.newBackgroundContext()
        return try marks.performAndWait {
            var request = FetchRequest<Message>(predicate: PropertyPath("size") == 13)
            request.fetchLimit = 200
            return try marks.fetchObjectIDs(request)
        }
    }

    private func openExisting() throws {
        let ids = try marked()
        if isNaive {
            for id in ids {
                let message = try context.existingObject(with: id) as? Message  // looked up one by one
                print(message?.text ?? "")
            }
        } else {
            try open(ids)
        }
    }

    private func openObjects() throws {
        let ids = try marked()
        if isNaive {
            for id in ids {
                guard let message = context.object(with: id) as? Message else { continue }
                print(message.text)  // read one by one
            }
        } else {
            try open(ids)
        }
    }

    private func open(_ ids: [ManagedObjectID]) throws {
        var request = FetchRequest<Message>(predicate: .isIn("self", objects: ids))
        request.returnsObjectsAsFaults = false
        for message in try context.fetch(request) { print(message.text) }
    }

    /// All messages, fifty at a time.
    private func turnPages() throws {
        var request = FetchRequest<Message>(sortDescriptors: [.ascending("number")], fetchLimit: 50)
        while true {
            let page = try context.fetch(request)  // turned to
            for message in page { print(message.text) }
            guard page.count == 50, let last = page.last else { return }
            if isNaive {
                request.fetchOffset += 50
            } else {
                request.predicate = PropertyPath("number") > last.number
            }
        }
    }

    /// Members that are made unless there are such.
    private func importMembers() throws {
        let count = arguments.dropFirst(4).compactMap { Int($0) }.first ?? 800
        let handles = (0..<count).map { $0 % 20 == 0 ? "known \($0 / 20)" : "new \($0 % (count * 19 / 20))" }
        var known: [String: Member] = [:]
        if !isNaive {
            let request = FetchRequest<Member>(predicate: .isIn("handle", Set(handles)))
            known = Dictionary(try context.fetch(request).map { ($0.handle, $0) }) { first, _ in first }
        }
        for handle in handles {
            if isNaive {
                var request = FetchRequest<Member>(predicate: PropertyPath("handle") == handle)
                request.fetchLimit = 1
                let member = try context.fetch(request).first ?? Member(context: context)  // found among the unsaved
                member[Member.handleKey] = handle
            } else {
                let member = known[handle] ?? Member(context: context)
                if member.handle != handle { member[Member.handleKey] = handle }
                known[handle] = member
            }
        }
        try context.save()
    }
}

extension Program {
    /// Fetches that take longer the more messages there are, and some that do not, each often enough to be warm.
    private func grow() throws {
        let byNumber = [FetchSortDescriptor.ascending("number")]
        func show(_ request: FetchRequest<Message>, line: UInt = #line) throws {
            for _ in 0..<12 { print(try context.fetch(request, line: line).count) }
        }
        func count(_ request: FetchRequest<Message>, line: UInt = #line) throws {
            for _ in 0..<12 { print(try context.count(for: request, line: line)) }
        }
        try show(FetchRequest(predicate: PropertyPath("size") == 13))  // scanned
        let isLate = PropertyPath("number") > 600
        try show(FetchRequest(predicate: isLate, sortDescriptors: byNumber, fetchLimit: 20))  // sought
        try show(FetchRequest(sortDescriptors: [.descending("size")]))  // sorted
        try show(FetchRequest(sortDescriptors: [.descending("size")], fetchLimit: 20))  // sorted for a few
        try show(FetchRequest(sortDescriptors: byNumber))  // in order
        try show(FetchRequest(sortDescriptors: byNumber, fetchLimit: 20))  // first in order
        try count(FetchRequest())  // all counted
        try count(FetchRequest(predicate: PropertyPath("size") > 50))  // counted by a scan
        try show(FetchRequest(predicate: PropertyPath("text").like("*9? of*")))  // searched
    }
}

let arguments = CommandLine.arguments
let container = try PersistentContainer(
    name: "Feed", managedObjectModel: makeModel(), storeURL: URL(fileURLWithPath: arguments[1]),
    classes: [Channel.self, Message.self, Member.self])
let context = container.newBackgroundContext()
try context.performAndWait {
    if arguments[2] == "prepare" {
        let sizes = arguments.dropFirst(3).compactMap { Int($0) }
        return try fill(context, channels: sizes.first ?? 60, messages: sizes.dropFirst().first ?? 20)
    }
    let program = Program(context: context, isNaive: arguments[2] == "naive")
    for scenario in arguments[3...] where Int(scenario) == nil {
        try program.run(scenario)
        // What the context holds would be read from memory.
        context.reset()
    }
}
