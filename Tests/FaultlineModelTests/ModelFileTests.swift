import FaultlineModel
import Foundation
import SharedData
import TestFolders
import Testing

@Suite("Third-party models load and are printed without loss")
struct ModelFileTests {
    static let models = SharedData.paths(endingIn: ".xcdatamodel")
    static let bundles = SharedData.paths(endingIn: ".xcdatamodeld")

    @Test("All models are found", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func count() {
        #expect(Self.models.count == 28)
        #expect(Self.bundles.count == 11)
    }

    @Test(
        "A file and its print have the same content", .enabled(if: SharedData.exists, "\(SharedData.need)"),
        arguments: models)
    func roundTrip(_ path: String) throws {
        let url = try SharedData.url(path)
        let model = try ManagedObjectModel(contentsOf: url)
        let original = try XMLTree(Data(contentsOf: url.appendingPathComponent("contents")))
        let text = try model.contents()
        #expect(try XMLTree(Data(text.utf8)).description == original.description)

        let copy = TestFolder.file("xcdatamodel")
        defer { try? FileManager.default.removeItem(at: copy) }
        try model.write(to: copy)
        #expect(try String(contentsOf: copy.appendingPathComponent("contents"), encoding: .utf8) == text)
        let again = try ManagedObjectModel(contentsOf: copy)
        #expect(again == model)
        #expect(again.versionHash == model.versionHash)
        #expect(try again.contents() == text)
    }

    @Test(
        "Every element of a file becomes a description", .enabled(if: SharedData.exists, "\(SharedData.need)"),
        arguments: models)
    func elements(_ path: String) throws {
        let url = try SharedData.url(path)
        let model = try ManagedObjectModel(contentsOf: url)
        let tree = try XMLTree(Data(contentsOf: url.appendingPathComponent("contents")))
        let entities = tree.all("entity")
        #expect(model.entities.map(\.name) == entities.map { $0.attributes["name"] })
        for (entity, element) in zip(model.entities, entities) {
            #expect(entity.parent == element.attributes["parentEntity"])
            #expect(entity.isAbstract == (element.attributes["isAbstract"] == "YES"))
            #expect(entity.managedObjectClassName == element.attributes["representedClassName"])
            #expect(entity.renamingIdentifier == element.attributes["elementID"])
            let attributes = element.all("attribute")
            #expect(entity.attributes.map(\.name) == attributes.map { $0.attributes["name"] })
            for (attribute, element) in zip(entity.attributes, attributes) {
                #expect(attribute.type.rawValue == element.attributes["attributeType"])
                #expect(attribute.isOptional == (element.attributes["optional"] == "YES"))
                #expect(attribute.isTransient == (element.attributes["transient"] == "YES"))
                #expect(attribute.derivationExpression == element.attributes["derivationExpression"])
                #expect(attribute.valueTransformerName == element.attributes["valueTransformerName"])
                #expect(attribute.versionHashModifier == element.attributes["versionHashModifier"])
                #expect(attribute.renamingIdentifier == element.attributes["elementID"])
                #expect((attribute.defaultValue == nil) == (element.attributes["defaultValueString"] == nil))
            }
            let relationships = element.all("relationship")
            #expect(entity.relationships.map(\.name) == relationships.map { $0.attributes["name"] })
            for (relationship, element) in zip(entity.relationships, relationships) {
                #expect(relationship.destination == element.attributes["destinationEntity"])
                #expect(relationship.inverse == element.attributes["inverseName"])
                #expect(relationship.isToMany == (element.attributes["toMany"] == "YES"))
                #expect(relationship.isOrdered == (element.attributes["ordered"] == "YES"))
                #expect(relationship.deleteRule.rawValue == element.attributes["deletionRule"])
            }
            #expect(
                entity.indexes.map { $0.elements.map(\.property) }
                    == element.all("fetchIndex").map {
                        $0.all("fetchIndexElement").map { $0.attributes["property"] ?? "" }
                    })
            #expect(
                entity.uniquenessConstraints
                    == element.all("uniquenessConstraint").map {
                        $0.all("constraint").map { $0.attributes["value"] ?? "" }
                    })
            #expect(
                entity.compoundIndexes
                    == element.all("compoundIndex").map { $0.all("index").map { $0.attributes["value"] ?? "" } })
            #expect(entity.fetchedProperties.count == element.all("fetchedProperty").count)
        }
        #expect(
            model.configurations.map(\.entities)
                == tree.all("configuration").map {
                    $0.all("memberEntity").map { $0.attributes["name"] ?? "" }
                })
    }

    @Test(
        "A folder of versions loads its current version",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func currentVersions() throws {
        let current = try Self.bundles.map { try ModelVersions(contentsOf: SharedData.url($0)).current }
        #expect(
            current == [
                "Model", "Advanced.EvolutionDemo.V1", "Advanced.EvolutionDemo.V2", "Advanced.EvolutionDemo",
                "ColorsDemo", "Moody 6", "Moody",
                "SampleModel", "SampleModel3", "BookmarksModel 6", "PrivacyStats",
            ])
    }

    @Test("A version can be chosen by name", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func chosenVersion() throws {
        let url = try SharedData.url("core-data-models/objcio/Migrations/Migrations/Moody.xcdatamodeld")
        let versions = try ModelVersions(contentsOf: url)
        #expect(versions.names == ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5", "Moody 6"])
        #expect(try ManagedObjectModel(contentsOf: url).versionIdentifiers == ["6"])
        #expect(try ManagedObjectModel(contentsOf: url, version: "Moody 2").versionIdentifiers == ["2"])
        #expect(try versions.model("Moody 3.xcdatamodel").versionIdentifiers == ["3"])
        let inside = url.appendingPathComponent("Moody 4.xcdatamodel/contents")
        #expect(try ManagedObjectModel(contentsOf: inside).versionIdentifiers == ["4"])
    }

    @Test("A declaration has the line of its element", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func declaration() throws {
        let url = try SharedData.url("core-data-models/objcio/Migrations/Migrations/Moody.xcdatamodeld")
        let mood = try #require(try ManagedObjectModel(contentsOf: url, version: "Moody 2").entity(named: "Mood"))
        #expect(mood.declaredAt == "Moody.xcdatamodeld/Moody 2.xcdatamodel/contents:30")
        #expect(mood.attributes[1].declaredAt == "Moody.xcdatamodeld/Moody 2.xcdatamodel/contents:32")
        let lines = try String(
            contentsOf: url.appendingPathComponent("Moody 2.xcdatamodel/contents"), encoding: .utf8
        ).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[31].contains("name=\"\(mood.attributes[1].name)\""))
    }

    @Test("Settings of all kinds of properties are loaded", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func values() throws {
        let model = try ManagedObjectModel(
            contentsOf: try SharedData.url("core-data-stores/coredataplus/SampleModel2/SampleModel2_V1.xcdatamodel"))
        let book = try #require(model.entity(named: "Book"))
        let pages = try #require(book.attributes.first { $0.name == "pagesCount" })
        #expect(pages.isDerived && pages.derivationExpression == "pages.@count" && pages.usesScalarValueType)
        let relationship = try #require(book.relationships.first { $0.name == "pages" })
        #expect((relationship.minimumCount, relationship.maximumCount) == (1, 10000))
        #expect(!relationship.isOptional && relationship.deleteRule == .cascade)
        let feedbacks = try #require(model.entity(named: "Author")?.fetchedProperties.first)
        #expect(feedbacks.fetchRequest?.entity == "Feedback")
        #expect(feedbacks.fetchRequest?.predicate == "authorAlias == $FETCH_SOURCE.alias")
        #expect(
            model.entity(named: "GraphicNovel")?.attributes.map(\.defaultValue) == [.boolean(false)])
    }
}
