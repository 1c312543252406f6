import FaultlineModel
import FaultlineStore
import Foundation

final class Publisher: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let storiesKey = ToManyKey<Story>("stories")
    var name: String { self[Self.nameKey] }
    var stories: ToMany<Story> { self[Self.storiesKey] }
}

final class Story: ManagedObject {
    static let identifierKey = AttributeKey<String>("identifier")
    static let headlineKey = AttributeKey<String>("headline")
    static let textKey = AttributeKey<String>("text")
    static let publishedAtKey = AttributeKey<Date>("publishedAt")
    static let isReadKey = AttributeKey<Bool>("isRead")
    static let isMarkedKey = AttributeKey<Bool>("isMarked")
    static let publisherKey = ToOneKey<Publisher>("publisher")
    var identifier: String { self[Self.identifierKey] }
    var headline: String { self[Self.headlineKey] }
    var publishedAt: Date { self[Self.publishedAtKey] }
    var isRead: Bool { self[Self.isReadKey] }
}

/// - Parameter isIndexed: Whether stories can be found by what the program asks for.
func makeModel(isIndexed: Bool) throws -> ManagedObjectModel {
    let indexes = [
        FetchIndexDescription("byDate", on: "publishedAt"), FetchIndexDescription("byIdentifier", on: "identifier"),
        FetchIndexDescription("byMark", on: "isMarked", "publishedAt"),
        FetchIndexDescription("byRead", on: "isRead", "publisher"),
    ]
    return try ManagedObjectModel(entities: [
        EntityDescription(
            "Publisher", attributes: [AttributeDescription("name", .string, isOptional: false)],
            relationships: [RelationshipDescription("stories", to: "Story", inverse: "publisher", isToMany: true)]),
        EntityDescription(
            "Story",
            attributes: [
                AttributeDescription("identifier", .string, isOptional: false),
                AttributeDescription("headline", .string, isOptional: false),
                AttributeDescription("text", .string, isOptional: false),
                AttributeDescription("publishedAt", .date, isOptional: false),
                AttributeDescription("isRead", .boolean, isOptional: false),
                AttributeDescription("isMarked", .boolean, isOptional: false),
            ],
            relationships: [RelationshipDescription("publisher", to: "Publisher", inverse: "stories")],
            indexes: isIndexed ? indexes : Array(indexes.prefix(1))),
    ])
}

/// Writes the values of a story.
func set(_ story: Story, number: Int, publisher: Publisher?) {
    story[Story.headlineKey] = "Headline \(number * 37 % 1000) of \(number)"
    story[Story.textKey] = String(repeating: "It was reported that \(number) happened. ", count: 40)
    story[Story.publishedAtKey] = Date(timeIntervalSince1970: 1_780_000_000 + Double(number) * 600)
    story[Story.publisherKey] = publisher
}

/// Twenty-five publishers and three thousand stories, of which a third is unread.
func fill(_ context: ManagedObjectContext) throws {
    let publishers = (0..<25).map { number in
        let publisher = Publisher(context: context)
        publisher[Publisher.nameKey] = "Publisher \(number)"
        return publisher
    }
    for number in 0..<3000 {
        let story = Story(context: context)
        story[Story.identifierKey] = "story/\(number)"
        set(story, number: number, publisher: publishers[number * 7 % publishers.count])
        story[Story.isReadKey] = number % 3 != 0
        story[Story.isMarkedKey] = number % 50 == 0
    }
    try context.save()
}
