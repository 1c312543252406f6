import FaultlineModel
import FaultlineStore
import Foundation
import Testing

/// `GeneratedClasses.swift` beside this file is the output for a model; it is compiled with the tests as it is.
@Suite("The classes that faultline model show writes are compiled and used as they are")
struct GeneratedClassesTests {
    private static func model() throws -> ManagedObjectModel {
        let types: [(String, AttributeType)] = [
            ("big", .integer64), ("cargo", .decimal), ("draught", .double), ("flag", .string), ("home", .uri),
            ("imo", .uuid), ("isAfloat", .boolean), ("launchedAt", .date), ("length", .float), ("medium", .integer32),
            ("plan", .binary), ("route", .transformable), ("small", .integer16),
        ]
        return try ManagedObjectModel(
            entities: [
                EntityDescription(
                    "Vessel", isAbstract: true,
                    attributes: types.map { AttributeDescription($0.0, $0.1) } + [
                        AttributeDescription("name", .string, isOptional: false),
                        AttributeDescription("nameUpper", .string, derivationExpression: "uppercase:(name)"),
                        AttributeDescription("case", .string),
                        AttributeDescription("draft", .undefined, isTransient: true),
                    ],
                    relationships: [
                        RelationshipDescription("harbour", to: "Harbour", inverse: "vessels"),
                        RelationshipDescription("crew", to: "Sailor", inverse: "vessels", isToMany: true),
                    ]),
                EntityDescription(
                    "Ferry", parent: "Vessel",
                    attributes: [AttributeDescription("seats", .integer16, isOptional: false)]),
                EntityDescription("Tug", parent: "Vessel", managedObjectClassName: ".Tugboat"),
                EntityDescription(
                    "Harbour",
                    relationships: [
                        RelationshipDescription(
                            "vessels", to: "Vessel", inverse: "harbour", isToMany: true, isOrdered: true)
                    ]),
                EntityDescription(
                    "Sailor",
                    relationships: [RelationshipDescription("vessels", to: "Vessel", inverse: "crew", isToMany: true)]),
            ])
    }

    /// Run with `FAULTLINE_WRITE_CLASSES=1` to write the file.
    @Test("The compiled file is the output")
    func current() throws {
        let source = ClassSource(try Self.model(), name: "Fleet").text
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("GeneratedClasses.swift")
        if ProcessInfo.processInfo.environment["FAULTLINE_WRITE_CLASSES"] != nil {
            try Data(source.utf8).write(to: file)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == source)
    }

    @Test("A store is used with the classes")
    func use() throws {
        let container = try PersistentContainer(
            name: "Fleet", managedObjectModel: Self.model(), storeDescription: PersistentStoreDescription(),
            classes: ModelClasses.all)
        let context = container.newBackgroundContext()
        let harbour = Harbour(context: context)
        let tug = Tugboat(context: context)
        (tug.name, tug.small, tug.cargo, tug.case) = ("Anna", 3, 1.5, "blue")
        tug.harbour = harbour
        tug.crew.add(Sailor(context: context))
        try context.save()
        context.reset()
        let found = try context.fetch(FetchRequest<Vessel>(predicate: PropertyPath("name") == "Anna"))[0]
        #expect(found is Tugboat && found.nameUpper == "ANNA" && found.small == 3 && found.cargo == 1.5)
        #expect(found.harbour?.vessels.count == 1 && found.crew.count == 1 && found.case == "blue")
        context.reset()
    }
}
