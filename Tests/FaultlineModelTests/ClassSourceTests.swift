import FaultlineModel
import Foundation
import Testing

@Suite("A model's classes as Swift source")
struct ClassSourceTests {
    private func source(_ entities: EntityDescription...) throws -> String {
        ClassSource(try ManagedObjectModel(variant: entities), name: "Test").text
    }

    @Test("Each property has a key and a variable of its type")
    func properties() throws {
        let text = try source(
            EntityDescription(
                "Note",
                attributes: [
                    AttributeDescription("text", .string, isOptional: false), AttributeDescription("rank", .integer16),
                ],
                relationships: [RelationshipDescription("next", to: "Note", inverse: nil)]))
        #expect(
            text == """
                // The classes of the model Test, written by "faultline model show --format swift".

                import FaultlineStore
                import Foundation

                final class Note: ManagedObject {
                    static let rank = AttributeKey<Int16?>("rank")
                    static let text = AttributeKey<String>("text")
                    static let next = ToOneKey<Note>("next")

                    var rank: Int16? {
                        get { self[Self.rank] }
                        set { self[Self.rank] = newValue }
                    }
                    var text: String {
                        get { self[Self.text] }
                        set { self[Self.text] = newValue }
                    }
                    var next: Note? {
                        get { self[Self.next] }
                        set { self[Self.next] = newValue }
                    }
                }

                /// The classes, for the `classes` of a `PersistentContainer`.
                enum ModelClasses {
                    static let all: [ManagedObject.Type] = [
                        Note.self,
                    ]
                }

                """)
    }

    @Test("A class has the model's name for it, unless several entities share it")
    func classNames() throws {
        let text = try source(
            EntityDescription("A", managedObjectClassName: ".First"),
            EntityDescription("B", managedObjectClassName: "App.Shared"),
            EntityDescription("C", managedObjectClassName: "Shared"),
            EntityDescription("D", managedObjectClassName: "NSManagedObject"))
        #expect(
            text.contains("final class First: ManagedObject {\n    override class var entityName: String { \"A\" }\n}"))
        for name in ["B", "C", "D"] { #expect(text.contains("final class \(name): ManagedObject {}")) }
    }

    @Test("Names that Swift or every object has get another form")
    func names() throws {
        let text = try source(
            EntityDescription(
                "Item",
                attributes: ["default", "description", "entityName"].map { AttributeDescription($0, .boolean) }))
        #expect(text.contains("static let `default` = AttributeKey<Bool?>(\"default\")"))
        #expect(text.contains("static let itemDescription = AttributeKey<Bool?>(\"description\")"))
        #expect(text.contains("static let itemEntityName = AttributeKey<Bool?>(\"entityName\")"))
    }

    @Test("The name of a model from a file cannot leave its comment")
    func title() throws {
        let text = ClassSource(try ManagedObjectModel(entities: []), name: "A\nimport Evil").text
        #expect(text.hasPrefix("// The classes of the model A import Evil, written"))
        #expect(text.contains("static let all: [ManagedObject.Type] = []"))
    }
}
