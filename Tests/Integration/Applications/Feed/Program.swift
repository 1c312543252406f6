import FaultlineModel
import FaultlineStore
import Foundation

struct Program {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
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
        default: fatalError("There is no scenario \(scenario).")
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
        guard isFlawed else {
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
        guard isFlawed else {
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
        guard isFlawed else {
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
        guard isFlawed else {
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

    /// The articles that somebody marked: identities that were kept elsewhere.
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
        if isFlawed {
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
        if isFlawed {
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
            if isFlawed {
                request.fetchOffset += 50
            } else {
                request.predicate = PropertyPath("number") > last.number
            }
        }
    }

    /// Members that are made unless there are such.
    private func importMembers() throws {
        let count = 800
        let handles = (0..<count).map { $0 % 20 == 0 ? "known \($0 / 20)" : "new \($0 % (count * 19 / 20))" }
        var known: [String: Member] = [:]
        if !isFlawed {
            let request = FetchRequest<Member>(predicate: .isIn("handle", Set(handles)))
            known = Dictionary(try context.fetch(request).map { ($0.handle, $0) }) { first, _ in first }
        }
        for handle in handles {
            if isFlawed {
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
