import FaultlineModel
import FaultlineStore
import Foundation

final class Board: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let listsKey = OrderedToManyKey<List>("lists")
    var lists: OrderedToMany<List> { self[Self.listsKey] }
}

final class List: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let cardsKey = OrderedToManyKey<Card>("cards")
    var title: String { self[Self.titleKey] }
    var cards: OrderedToMany<Card> { self[Self.cardsKey] }
}

final class Card: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let effortKey = AttributeKey<Int>("effort")
    static let ownersKey = ToManyKey<Member>("owners")
    static let remarksKey = ToManyKey<Remark>("remarks")
    var title: String { self[Self.titleKey] }
    var owners: ToMany<Member> { self[Self.ownersKey] }
    var remarks: ToMany<Remark> { self[Self.remarksKey] }
}

final class Member: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let portraitKey = AttributeKey<Data?>("portrait")
    var name: String { self[Self.nameKey] }
}

final class Remark: ManagedObject {
    static let textKey = AttributeKey<String>("text")
    static let writtenAtKey = AttributeKey<Date>("writtenAt")
    static let cardKey = ToOneKey<Card>("card")
    static let authorKey = ToOneKey<Member>("author")
    var text: String { self[Self.textKey] }
}

func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Board", attributes: [AttributeDescription("title", .string, isOptional: false)],
            relationships: [
                RelationshipDescription("lists", to: "List", inverse: "board", isToMany: true, isOrdered: true)
            ]),
        EntityDescription(
            "List", attributes: [AttributeDescription("title", .string, isOptional: false)],
            relationships: [
                RelationshipDescription("board", to: "Board", inverse: "lists"),
                RelationshipDescription("cards", to: "Card", inverse: "list", isToMany: true, isOrdered: true),
            ]),
        EntityDescription(
            "Card",
            attributes: [
                AttributeDescription("title", .string, isOptional: false),
                AttributeDescription("effort", .integer64, isOptional: false),
            ],
            relationships: [
                RelationshipDescription("list", to: "List", inverse: "cards"),
                RelationshipDescription("owners", to: "Member", inverse: "cards", isToMany: true),
                RelationshipDescription("remarks", to: "Remark", inverse: "card", isToMany: true),
            ],
            indexes: [FetchIndexDescription("byTitle", on: "title"), FetchIndexDescription("byEffort", on: "effort")]),
        EntityDescription(
            "Member",
            attributes: [
                AttributeDescription("name", .string, isOptional: false), AttributeDescription("portrait", .binary),
            ],
            relationships: [
                RelationshipDescription("cards", to: "Card", inverse: "owners", isToMany: true),
                RelationshipDescription("remarks", to: "Remark", inverse: "author", isToMany: true),
            ]),
        EntityDescription(
            "Remark",
            attributes: [
                AttributeDescription("text", .string, isOptional: false),
                AttributeDescription("writtenAt", .date, isOptional: false),
            ],
            relationships: [
                RelationshipDescription("card", to: "Card", inverse: "remarks"),
                RelationshipDescription("author", to: "Member", inverse: "remarks"),
            ],
            indexes: [FetchIndexDescription("byDate", on: "writtenAt")]),
    ])
}

/// Three boards of six lists with thirty cards each, two owners and four remarks for each of them.
func fill(_ context: ManagedObjectContext) throws {
    let members = (0..<40).map { number in
        let member = Member(context: context)
        member[Member.nameKey] = "Member \(number)"
        member[Member.portraitKey] = Data(repeating: UInt8(number), count: 30_000)
        return member
    }
    var number = 0
    for title in ["Autumn", "Winter", "Spring"] {
        let board = Board(context: context)
        board[Board.titleKey] = title
        for place in 0..<6 {
            let list = List(context: context)
            list[List.titleKey] = "List \(place)"
            board.lists.add(list)
            for _ in 0..<30 {
                let card = Card(context: context)
                card[Card.titleKey] = "Card \(number)"
                card[Card.effortKey] = 1 + number % 8
                list.cards.add(card)
                for owner in 0..<2 { card.owners.add(members[(number * 3 + owner) % members.count]) }
                for remark in 0..<4 { add(remark, to: card, by: members[(number + remark * 7) % members.count]) }
                number += 1
            }
        }
    }
    try context.save()
}

private func add(_ number: Int, to card: Card, by author: Member) {
    let remark = Remark(context: card.managedObjectContext)
    remark[Remark.textKey] = "Remark \(number) on \(card.title)"
    remark[Remark.writtenAtKey] = Date(timeIntervalSince1970: 1_780_000_000 + Double(number * 977))
    remark[Remark.cardKey] = card
    remark[Remark.authorKey] = author
}
