// Boards with lists of cards, edited in child contexts, in two forms: flawed and repaired.
//
//     Kanban <store> flawed|repaired prepare
//     Kanban <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore
import FaultlineTrace

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "board": try showBoard()
        case "picker": try pickMembers()
        case "badges": try showBadges()
        case "newest": try showNewest()
        case "launch": try launch()
        case "texts": try listTexts()
        case "forms": try editInForms()
        case "dropped": try dropOnTop()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// One board with all that is on it.
    private func showBoard() throws {
        var request = FetchRequest<Board>(predicate: PropertyPath("title") == "Winter")
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["lists.cards.remarks"] }
        for board in try context.fetch(request) {  // the board
            for list in board.lists {
                for card in list.cards { print(list.title, card.title, card.remarks.map(\.text).sorted()) }
            }
        }
    }

    /// A list of members that is opened three times.
    private func pickMembers() throws {
        var request = FetchRequest<Member>(sortDescriptors: [.ascending("name")])
        request.propertiesToFetch = ["name"]
        let kept = isFlawed ? nil : try context.fetch(request)
        for _ in 0..<6 {
            let members = try kept ?? context.fetch(request)  // to pick from
            print(members.map(\.name))
            if isFlawed { context.refreshAllObjects() }
        }
    }

    /// The number of remarks on each card.
    private func showBadges() throws {
        let request = FetchRequest<Card>(sortDescriptors: [.ascending("title")], fetchLimit: 200)
        if isFlawed {
            for card in try context.fetch(request) {  // with a badge
                print(card.title, card.remarks.count)
            }
        } else {
            let cards = try context.fetch(request)
            let count = ExpressionDescription("count", .function(.count, "self"))
            var counts = FetchRequest<Remark>(predicate: .isIn("card", objects: cards.map(\.objectID)))
            (counts.resultType, counts.propertiesToFetch) = (.dictionary, ["card", count])
            counts.propertiesToGroupBy = ["card"]
            print(cards.map(\.title), try context.fetchDictionaries(counts).count)
        }
    }

    /// The newest remark on each card of a list.
    private func showNewest() throws {
        let cards = try context.fetch(FetchRequest<Card>(sortDescriptors: [.ascending("title")], fetchLimit: 60))
        if isFlawed {
            for card in cards {
                let request = FetchRequest<Remark>(
                    predicate: PropertyPath("card") == card, sortDescriptors: [.descending("writtenAt")], fetchLimit: 1)
                print(try context.fetch(request).first?.text ?? "")  // the newest remark
            }
        } else {
            var newest: [ManagedObjectID: String] = [:]
            let request = FetchRequest<Remark>(
                predicate: .isIn("card", objects: cards.map(\.objectID)), sortDescriptors: [.ascending("writtenAt")])
            for remark in try context.fetch(request) {
                if let card = remark[Remark.cardKey] { newest[card.objectID] = remark.text }
            }
            print(cards.map { newest[$0.objectID] ?? "" })
        }
    }

    /// Reads remarks when the program starts, for the case that somebody will need them.
    private func launch() throws {
        if isFlawed {
            _ = try context.fetch(FetchRequest<Remark>(sortDescriptors: [.descending("writtenAt")]))  // to warm up
        }
        print(try context.count(for: FetchRequest<Board>()))
    }

    /// The texts of remarks, in three parts.
    private func listTexts() throws {
        for part in 0..<3 {
            var request = FetchRequest<Remark>(predicate: PropertyPath("card.effort") == part + 1)
            if isFlawed { request.relationshipKeyPathsForPrefetching = ["author", "card"] }
            let remarks = try context.fetch(request)  // texts alone
            print(remarks.map(\.text))
        }
    }

    /// Cards that are edited in a form each.
    private func editInForms() throws {
        let cards = try context.fetch(FetchRequest<Card>(predicate: PropertyPath("effort") == 3, fetchLimit: 40))
        let shared = ManagedObjectContext(parent: context, concurrencyType: .privateQueue)
        for card in cards {
            let form = isFlawed ? ManagedObjectContext(parent: context, concurrencyType: .privateQueue) : shared
            try form.performAndWait {
                form.object(with: card.objectID)[Card.effortKey] = 5
                if isFlawed { try form.save() }
            }
            if isFlawed {
                try context.save()  // one card
            }
        }
        try shared.performAndWait { try shared.save() }
        try context.save()
    }

    /// Cards that are dropped at the top of their list.
    private func dropOnTop() throws {
        guard let list = try context.fetch(FetchRequest<List>(fetchLimit: 1)).first else { return }
        for _ in 0..<30 {
            list.cards.move(from: list.cards.count - 1, to: 0)
            if isFlawed {
                try context.save()  // one drop
            }
        }
        try context.save()
    }
}

let application = Application()
let container = try application.container(
    "Kanban", makeModel(), classes: [Board.self, List.self, Card.self, Member.self, Remark.self])
try application.run(container, scopes: ["board": .screen, "picker": .screen], prepare: fill) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
