import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("Stores can be created from third-party models", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct LoadedModelTests {
    static let models = SharedData.paths(endingIn: ".xcdatamodel")

    /// Returns a value of an attribute's type.
    private func value(_ type: AttributeType) -> Any? {
        switch type {
        case .integer16, .integer32, .integer64: 7
        case .double, .float: 0.5
        case .decimal: Decimal(string: "1.25")
        case .boolean: true
        case .string: "text \(UUID().uuidString)"
        case .date: Date(timeIntervalSinceReferenceDate: 1000.5)
        case .uuid: UUID()
        case .uri: URL(string: "https://example.com/a?b=c")
        case .binary, .transformable: Data([1, 2, 3])
        case .undefined, .composite: nil
        }
    }

    @Test("A store can be created from every model, and its objects round-trip with all values", arguments: models)
    func everyModel(_ path: String) throws {
        let model = try ManagedObjectModel(contentsOf: SharedData.url(path))
        let url = try TestStore.makeFolder().appendingPathComponent("Test.sqlite")
        var values: [String: [String: String]] = [:]
        do {
            let context = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url)
                .newBackgroundContext()
            var objects: [ManagedObject] = []
            var made = 0
            func make(_ entity: EntityDescription) -> ManagedObject {
                made += 1
                let object = context.insertNewObject(forEntityName: entity.name)
                var read: [String: String] = [:]
                let unique = Set(
                    CoreDataReadingTests.lineage(entity, model).flatMap { $0.uniquenessConstraints.joined() })
                for attribute in CoreDataReadingTests.lineage(entity, model).flatMap(\.attributes) {
                    // Transient attributes that are not optional need a value too, but are never stored.
                    guard !attribute.isTransient || !attribute.isOptional, !attribute.isDerived else { continue }
                    object[attribute.name] = value(attribute.type)
                    if unique.contains(attribute.name) {
                        switch attribute.type {
                        case .integer16, .integer32, .integer64: object[attribute.name] = made
                        case .string: object[attribute.name] = "text \(made)"
                        default: break
                        }
                    }
                    if !attribute.isTransient { read[attribute.name] = object[attribute.name].map { "\($0)" } }
                }
                values[entity.name] = values[entity.name] ?? read
                return object
            }
            for entity in model.entities where !entity.isAbstract { objects.append(make(entity)) }
            // Relates each object to any existing object of the destination.
            for object in objects {
                let entity = try #require(model.entity(named: object.entityName))
                for owner in CoreDataReadingTests.lineage(entity, model) {
                    for relationship in owner.relationships where !relationship.isToMany {
                        object[relationship.name] = objects.first { other in
                            let lineage = CoreDataReadingTests.lineage(model.entity(named: other.entityName)!, model)
                            return lineage.contains { $0.name == relationship.destination }
                        }
                    }
                }
            }
            for object in objects {
                let lineage = CoreDataReadingTests.lineage(try #require(model.entity(named: object.entityName)), model)
                for relationship in lineage.flatMap(\.relationships)
                where relationship.isToMany && !relationship.isOptional {
                    let members = try #require(object[relationship.name] as? ToMany<ManagedObject>)
                    if members.isEmpty {
                        members.add(make(try #require(model.entity(named: relationship.destination))))
                    }
                }
            }
            try context.save()
        }
        let context = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url)
            .newBackgroundContext()
        for (name, expected) in values {
            let object = try #require(
                try context.fetch(FetchRequest<ManagedObject>(entityName: name, includesSubentities: false)).first)
            for (attribute, text) in expected { #expect(object[attribute].map { "\($0)" } == text) }
        }
        #expect(
            try SQLShell.run("SELECT Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_NAME", url)
                == model.entities.map(\.name).sorted())
    }

    @Test("An ordered many-to-many relationship of an entity with itself keeps its order")
    func reflexive() throws {
        let path = "core-data-stores/duckduckgo/BookmarksModel.xcdatamodeld"
        let url = try TestStore.makeFolder().appendingPathComponent("Test.sqlite")
        let container = try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(contentsOf: SharedData.url(path)), storeURL: url)
        let context = container.newBackgroundContext()
        let objects = "fabc".map { title in
            let object = context.insertNewObject(forEntityName: "BookmarkEntity")
            object["title"] = String(title)
            object["uuid"] = String(title)
            object["isFolder"] = title == "f"
            return object
        }
        objects[0]["favorites"] = [objects[3], objects[1], objects[2]]
        try context.save()
        #expect(
            try SQLShell.run("SELECT * FROM Z_1FAVORITEFOLDERS ORDER BY Z_FOK_1FAVORITES", url) == [
                "4|1|2048", "2|1|4096", "3|1|6144",
            ])
        let other = container.newBackgroundContext()
        let folder = try other.existingObject(with: objects[0].objectID)
        let favorites = try #require(folder["favorites"] as? OrderedToMany<ManagedObject>)
        #expect(favorites.map { $0["title"] as? String } == ["c", "a", "b"])
        let folders = try #require(favorites[0]["favoriteFolders"] as? ToMany<ManagedObject>)
        #expect(folders.map { $0["title"] as? String } == ["f"])
    }
}
