import FaultlineModel
import Foundation
import TestFolders
import Testing

@Suite("A mapping model that does not fit throws an error that says why")
struct MappingFileErrorTests {
    private let folder: URL
    private let models: (source: ManagedObjectModel, destination: ManagedObjectModel)

    init() throws {
        folder = try TestFolder.make()
        models = try MappingText.models()
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    private var file: String { path("xcmapping.xml") }

    private func load(_ name: String) throws(ModelError) -> MappingModel {
        try MappingModel(
            contentsOf: folder.appendingPathComponent(name), from: models.source, to: models.destination)
    }

    private func error(_ text: String) throws -> ModelError? {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        do throws(ModelError) {
            _ = try load("xcmapping.xml")
            return nil
        } catch {
            return error
        }
    }

    /// Returns the message for a file of which line 3 is the first object.
    private func message(_ objects: String..., entities: [String] = ["c"]) throws -> String? {
        try error(MappingText.file(objects, entities: entities))?.message
    }

    private let car = [("sourcename", "Car"), ("destinationname", "Car")]

    private func entity(
        _ more: [(String, String)] = [], attributes: [String] = [], relationships: [String] = []
    ) -> String {
        MappingText.entity("c", car + more, attributes: attributes, relationships: relationships)
    }

    @Test("A file that is no mapping model is named")
    func otherFiles() throws {
        func message(_ name: String) -> String? {
            do throws(ModelError) {
                _ = try load(name)
                return nil
            } catch {
                return error.message
            }
        }
        #expect(
            message("none.xcmappingmodel") == "'\(path("none.xcmappingmodel"))' does not exist; name a .xcmappingmodel."
        )
        #expect(
            message("a.cdm")
                == "'\(path("a.cdm"))' is a compiled mapping model, which only Core Data can read; name the .xcmappingmodel that it was compiled from."
        )
        try FileManager.default.createDirectory(atPath: path("a.xcmappingmodel"), withIntermediateDirectories: true)
        #expect(
            message("a.xcmappingmodel")
                == "'\(path("a.xcmappingmodel"))' is not a mapping model: it has no file 'xcmapping.xml'; name a .xcmappingmodel."
        )
        #expect(try error("")?.message == "'\(file)' is empty; name a .xcmappingmodel.")
        #expect(try error("bplist00")?.message == "'\(file)' is not XML; name a .xcmappingmodel.")
        #expect(try error("bplist00")?.code == .notAModel)
        #expect(
            try error("<model/>")?.message
                == "'\(file)' is XML, but not a mapping model: its outermost element is 'model', not 'database'; name a .xcmappingmodel."
        )
        #expect(
            try error("<database>\n<object>")?.message
                == "'\(file)' is not well-formed XML: it ends in the middle of an element in line 2; name a .xcmappingmodel."
        )
        #expect(
            try error("<database/>")?.message
                == "Loading '\(file)': the file has 0 mapping models instead of one; save it again in Xcode.")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/dev/zero")
        #expect(message("xcmapping.xml") == "'\(file)' is not a regular file; name another.")
    }

    @Test("A reference to a missing object is refused")
    func references() throws {
        #expect(
            try message()
                == "Loading '\(file)', line 2: 'entitymappings' refers to 'c', but the file has no such object of the type XDDEVENTITYMAPPING; save the mapping model again in Xcode."
        )
        #expect(
            try message(entity(attributes: ["r"]), MappingText.property("r", "RELATIONSHIP", [("name", "owner")]))
                == "Loading '\(file)', line 3: 'attributemappings' refers to 'r', but the file has no such object of the type XDDEVATTRIBUTEMAPPING; save the mapping model again in Xcode."
        )
        #expect(
            try message(entity(), entity())
                == "Loading '\(file)', line 4: two objects have the ID 'c'; save the mapping model again in Xcode.")
    }

    @Test("An entity that a model lacks is refused, with its name")
    func entities() throws {
        let text = MappingText.file(
            [MappingText.entity("c", [("sourcename", "Maker"), ("destinationname", "Maker")])], entities: ["c"])
        let error = try error(text)
        #expect(
            error?.message
                == "Loading '\(file)', line 3: the mapping 'MakerToMaker' names the entity 'Maker', which the older model does not have; choose other models, or correct the mapping in Xcode."
        )
        #expect(error?.code == .invalidMapping)
        #expect(error?.entity == "Maker")
        #expect(
            try message(MappingText.entity("c", [("destinationname", "Boat")]))
                == "Loading '\(file)', line 3: the mapping 'Boat' names the entity 'Boat', which the newer model does not have; choose other models, or correct the mapping in Xcode."
        )
        #expect(
            try message(MappingText.entity("c", [("mappingnumber", "1")]))
                == "Loading '\(file)', line 3: an entity mapping has neither a source nor a destination; choose them in Xcode, or remove it."
        )
        #expect(
            try message(entity([("mappingnumber", "one")]))
                == "Loading '\(file)', line 3: an entity mapping has the number 'one'; save the mapping model again in Xcode."
        )
    }

    @Test("A property that a model lacks is refused, with its name")
    func properties() throws {
        let color = MappingText.property("p", "ATTRIBUTE", [("name", "color")])
        let error = try error(MappingText.file([entity(attributes: ["p"]), color], entities: ["c"]))
        #expect(
            error?.message
                == "Loading '\(file)', line 4: the attribute 'Car.color' is mapped, but the newer model does not have it; choose other models, or correct the mapping in Xcode."
        )
        #expect(error?.entity == "Car")
        #expect(error?.property == "color")
        #expect(
            try message(
                entity(relationships: ["p"]), MappingText.property("p", "RELATIONSHIP", [("name", "paint")]))
                == "Loading '\(file)', line 4: the relationship 'Car.paint' is mapped, but the newer model does not have it; choose other models, or correct the mapping in Xcode."
        )
        #expect(
            try message(entity(attributes: ["p"]), MappingText.property("p", "ATTRIBUTE", []))
                == "Loading '\(file)', line 4: a mapping of 'Car' has no attribute; save the mapping model again in Xcode."
        )
        let paint = [MappingText.property("p", "ATTRIBUTE", [("name", "paint")])]
        #expect(
            try message(entity(attributes: ["p", "p"]), paint[0])
                == "Loading '\(file)', line 4: 'Car.paint' is mapped twice by one entity mapping; remove one of the two in Xcode."
        )
    }

    @Test("An expression with names that do not exist is refused")
    func names() throws {
        func owner(_ attributes: [(String, String)]) throws -> String? {
            try message(
                entity(relationships: ["r"]),
                MappingText.property("r", "RELATIONSHIP", [("name", "owner")] + attributes))
        }
        #expect(
            try owner([("sourcekeypath", "$source.owner"), ("sourcemappingname", "PersonToPerson")])
                == "Loading '\(file)', line 4: the expression of 'Car.owner' names the mapping 'PersonToPerson', but the file has only 'CarToCar'; correct it in Xcode."
        )
        #expect(
            try owner([("sourcekeypath", "$source.owner.cars.paint"), ("sourcemappingname", "CarToCar")])
                == "Loading '\(file)', line 4: the expression 'FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"CarToCar\", $source.owner.cars.paint)' of 'Car.owner' reads 'Car.paint', which the older model does not have; choose other models, or correct the expression in Xcode."
        )
        #expect(
            try owner([("sourcekeypath", "$sauce.owner"), ("sourcemappingname", "CarToCar")])
                == "Loading '\(file)', line 4: the key path '$sauce.owner' of 'Car.owner' is invalid; correct it in Xcode."
        )
        #expect(try owner([("sourcekeypath", "owner.cars.@count"), ("sourcemappingname", "CarToCar")]) == nil)
        #expect(try owner([("sourcekeypath", "owner.name.length"), ("sourcemappingname", "CarToCar")]) == nil)
    }

    @Test("Settings that are not understood are refused, because they can change the result")
    func settings() throws {
        #expect(
            try message(entity([("filter", "age > 3")]))
                == "Loading '\(file)', line 3: the mapping 'CarToCar' has the setting 'filter', which Faultline does not know; remove it, or write the mapping in code."
        )
        #expect(
            try message(entity([("autogenerateexpression", "0")]))
                == "Loading '\(file)', line 3: the mapping 'CarToCar' selects its objects by an expression of its own, which Faultline cannot read; write this mapping in code."
        )
        #expect(
            try message(
                entity(attributes: ["p"]),
                MappingText.property("p", "ATTRIBUTE", [("name", "paint"), ("transform", "x")]))
                == "Loading '\(file)', line 4: the mapping of 'Car.paint' has the setting 'transform', which Faultline does not know; remove it, or write the mapping in code."
        )
    }

    @Test("Names are unique, and equal entities are copied")
    func derived() throws {
        let name = MappingText.property("n", "ATTRIBUTE", [("name", "name")])
        let cars = MappingText.property("r", "RELATIONSHIP", [("name", "cars"), ("autogenerateexpression", "1")])
        func person(_ id: String, _ number: String, _ relationships: [String]) -> String {
            MappingText.entity(
                id, [("sourcename", "Person"), ("destinationname", "Person"), ("mappingnumber", number)],
                attributes: ["n"], relationships: relationships)
        }
        let text = MappingText.file(
            [
                person("c", "3", []), person("b", "1", ["r"]), name, cars,
                MappingText.entity("a", [("sourcename", "Car"), ("mappingnumber", "2")]),
            ], entities: ["a", "b", "c"])
        #expect(try error(text) == nil)
        let mappings = try load("xcmapping.xml").entityMappings
        #expect(mappings.map(\.name) == ["PersonToPerson", "Car", "PersonToPerson_2"])
        #expect(mappings.map(\.mappingType) == [.copy, .remove, .transform])
    }
}
