import FaultlineModel
import FaultlineStore
import Foundation

final class Note: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let textKey = AttributeKey<String>("text")
    static let numberKey = AttributeKey<Int>("number")
    static let folderKey = AttributeKey<Int>("folder")
    static let createdAtKey = AttributeKey<Date>("createdAt")
    static let sketchKey = AttributeKey<Data?>("sketch")
    static let tagsKey = ToManyKey<Tag>("tags")
    var title: String { self[Self.titleKey] }
    var text: String { self[Self.textKey] }
    var number: Int { self[Self.numberKey] }
    var createdAt: Date { self[Self.createdAtKey] }
    var sketch: Data? { self[Self.sketchKey] }
}

final class Tag: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let notesKey = ToManyKey<Note>("notes")
    var name: String { self[Self.nameKey] }
}

/// - Parameter isRepaired: Whether the model has the index that a list wants, and keeps sketches outside the table.
func makeModel(isRepaired: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Note",
            attributes: [
                AttributeDescription("title", .string, isOptional: false),
                AttributeDescription("text", .string, isOptional: false),
                AttributeDescription("number", .integer64, isOptional: false),
                AttributeDescription("folder", .integer64, isOptional: false),
                AttributeDescription("createdAt", .date, isOptional: false),
                AttributeDescription("sketch", .binary, allowsExternalBinaryDataStorage: isRepaired),
            ],
            relationships: [RelationshipDescription("tags", to: "Tag", inverse: "notes", isToMany: true)],
            indexes: [
                FetchIndexDescription("byNumber", on: "number"), FetchIndexDescription("byTitle", on: "title"),
            ]
                + (isRepaired
                    ? [
                        FetchIndexDescription("byDate", on: "createdAt"),
                        FetchIndexDescription("byFolder", on: "folder"),
                    ] : [])),
        EntityDescription(
            "Tag", attributes: [AttributeDescription("name", .string, isOptional: false)],
            relationships: [RelationshipDescription("notes", to: "Note", inverse: "tags", isToMany: true)]),
    ])
}

/// Four thousand notes with three tags each, of which two hundred have a sketch.
func fill(_ context: ManagedObjectContext) throws {
    let tags = (0..<50).map { number in
        let tag = Tag(context: context)
        tag[Tag.nameKey] = "Tag \(number)"
        return tag
    }
    let words = ["apple", "bread", "cheese", "dates", "eggs", "flour", "grapes", "honey"]
    for number in 0..<4000 {
        let note = Note(context: context)
        note[Note.titleKey] = "\(words[number % 8]) \(number)"
        note[Note.textKey] =
            "\(number) Café au lait, \(words[number / 8 % 8]) and \(words[number / 64 % 8]) for the week"
        note[Note.numberKey] = number
        note[Note.folderKey] = number % 80
        note[Note.createdAtKey] = Date(timeIntervalSince1970: 1_790_000_000 + Double(number * 7919 % 4000) * 60)
        note[Note.sketchKey] = number < 200 ? Data(repeating: 7, count: 120_000) : nil
        for offset in 0..<3 { note[Note.tagsKey].add(tags[(number + offset * 17) % tags.count]) }
    }
    try context.save()
}
