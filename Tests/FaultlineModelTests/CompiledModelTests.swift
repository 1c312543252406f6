import Foundation
import SharedData
import TestFolders
import Testing

@testable import FaultlineModel

@Suite("Compiled models", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct CompiledModelTests {
    private let sources: URL
    private let compiled: URL

    init() throws {
        let folder = try SharedData.url("core-data-stores/coredataplus/SampleModel")
        sources = folder.appendingPathComponent("SampleModel.xcdatamodeld")
        compiled = folder.appendingPathComponent("Compiled/SampleModel.momd")
    }

    @Test("are the models that they were compiled from, as far as stores depend on them")
    func equal() throws {
        let versions = try ModelVersions(contentsOf: compiled)
        #expect(versions.names == ["SampleModel", "SampleModel2", "SampleModel3"])
        #expect(try versions.current == "SampleModel")
        for name in versions.names {
            let model = try versions.model(name)
            let source = try ManagedObjectModel(contentsOf: sources, version: name)
            #expect(model.isCoreDataCopy && source.isSameVersion(asCached: model))
            #expect(model.entities.map(\.name) == source.entities.map(\.name).sorted())
            #expect(model.entityVersionHashesByName == source.entityVersionHashesByName)
            #expect(model.schema.statements == source.schema.statements)
            #expect(model.siblings.count { _ in true } == 2)
        }
    }

    @Test("are named by their folder, a version in it, the file of a version, or its optimized copy")
    func names() throws {
        func entities(_ url: URL, version: String? = nil) throws -> [String] {
            try ManagedObjectModel(contentsOf: url, version: version).entities.map(\.name)
        }
        let current = ["Car", "ExpensiveSportCar", "Person", "SportCar"]
        #expect(try entities(compiled) == current)
        #expect(try entities(compiled.appendingPathComponent("SampleModel.mom")) == current)
        #expect(try entities(compiled.appendingPathComponent("SampleModel.omo")) == current)
        let third = ["Car", "LuxuryCar", "Maker", "Person", "SportCar"]
        #expect(try entities(compiled, version: "SampleModel3") == third)
        #expect(try entities(compiled, version: "SampleModel3.mom") == third)
        #expect {
            try entities(compiled, version: "SampleModel4")
        } throws: {
            "\($0)"
                == "'\(compiled.path)' has no version 'SampleModel4'; choose one of 'SampleModel', 'SampleModel2', 'SampleModel3'."
        }
    }

    @Test("whose current version cannot be read need the name of one")
    func brokenVersionInfo() throws {
        let folder = TestFolder.file("momd")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["SampleModel", "SampleModel2"] {
            try Data(contentsOf: compiled.appendingPathComponent("\(name).mom")).write(
                to: folder.appendingPathComponent("\(name).mom"))
        }
        func message() -> String {
            do throws(ModelError) {
                _ = try ManagedObjectModel(contentsOf: folder)
                return "no error"
            } catch {
                return error.message
            }
        }
        let choices = "choose one of 'SampleModel', 'SampleModel2'."
        #expect(message() == "'\(folder.path)' does not specify which of its versions is current; \(choices)")
        let info = folder.appendingPathComponent("VersionInfo.plist")
        try Data("junk".utf8).write(to: info)
        #expect(
            message()
                == "'\(info.path)' is not a property list; let Xcode compile the model again, or choose a version.")
        try PropertyListSerialization.data(
            fromPropertyList: ["NSManagedObjectModel_CurrentVersionName": "SampleModel3"], format: .binary, options: 0
        ).write(to: info)
        #expect(
            message() == "'\(info.path)' names 'SampleModel3' as the current version, which does not exist; \(choices)")
        #expect(try ManagedObjectModel(contentsOf: folder, version: "SampleModel2").entities.count == 4)
    }

    @Test("that are damaged or cut off are refused, whatever they contain")
    func damaged() throws {
        let url = compiled.appendingPathComponent("SampleModel3.mom")
        let whole = try Data(contentsOf: url)
        func message(_ bytes: some Sequence<UInt8>) -> String? {
            do throws(ModelError) {
                _ = try ManagedObjectModel(compiled: Data(bytes), file: url)
                return nil
            } catch {
                return error.message
            }
        }
        #expect(message(whole) == nil)
        for length in stride(from: 0, to: whole.count, by: 37) {
            let text = message(whole.prefix(length)) ?? ""
            #expect(text.hasPrefix("Cannot read the compiled model '\(url.path)': it "), "\(length): \(text)")
        }
        var state: UInt64 = 7
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var failures = 0
        for _ in 0..<500 {
            var bytes = Array(whole)
            for _ in 0...random(4) { bytes[random(bytes.count)] = UInt8(random(256)) }
            if message(bytes) != nil { failures += 1 }
        }
        #expect(failures > 250)
    }

    /// Reads a compiled model whose archive was changed.
    private func contents(_ change: (inout [PropertyListValue]) throws -> Void) throws -> ModelArchive.Contents {
        let data = try Data(contentsOf: compiled.appendingPathComponent("SampleModel.mom"))
        var list = try #require(PropertyListValue(data, limit: PropertyListValue.Limit.model).dictionary)
        var objects = try #require(list["$objects"]?.array)
        try change(&objects)
        list["$objects"] = .array(objects)
        let archive = try #require(try KeyedArchive(.dictionary(list), limit: PropertyListValue.Limit.model))
        return try ModelArchive.contents(archive)
    }

    /// The position of the description of an entity or a property, by the key of its name.
    private func position(_ key: String, _ name: String, in objects: [PropertyListValue]) throws -> Int {
        try #require(
            objects.firstIndex { object in
                guard case .reference(let number)? = object.dictionary?[key] else { return false }
                return objects[number] == .string(name)
            })
    }

    @Test("may have inverses that do not point back, and constraints on properties that are not stored")
    func warnings() throws {
        let found = try contents { objects in
            let owner = try position("NSPropertyName", "owner", in: objects)
            var relationship = try #require(objects[owner].dictionary)
            relationship["_NSInverseRelationshipName"] = .reference(objects.count)
            objects[owner] = .dictionary(relationship)
            objects.append(.string("keeper"))
            let plate = try position("NSPropertyName", "numberPlate", in: objects)
            var attribute = try #require(objects[plate].dictionary)
            attribute["NSIsTransient"] = .boolean(true)
            // A type that only a transient attribute can have.
            attribute["NSAttributeType"] = .integer(2000)
            objects[plate] = .dictionary(attribute)
        }
        let car = try #require(found.entities.first { $0.name == "Car" })
        #expect(car.relationships.map(\.inverse) == [nil] && car.uniquenessConstraints == [])
        #expect(car.attributes.first { $0.name == "numberPlate" }?.type == .undefined)
        #expect(found.entities.first { $0.name == "Person" }?.relationships.map(\.inverse) == [nil])
        _ = try ManagedObjectModel(entities: found.entities)
    }

    @Test(
        "may have their properties in a dictionary with fixed keys, and name the properties of a constraint by description"
    )
    func otherForms() throws {
        let expected = try contents { _ in }.entities
        let found = try contents { objects in
            for name in ["Car", "Person"] {
                let entity = try position("NSEntityName", name, in: objects)
                var description = try #require(objects[entity].dictionary)
                guard case .reference(let number)? = description["NSProperties"] else { continue }
                let values = try #require(objects[number].dictionary?["NS.objects"]?.array)
                // An empty slot is a string.
                let slots = PropertyListValue.dictionary(["NS.objects": .array(values + [.reference(0)])])
                description["NSProperties"] = .reference(objects.count)
                objects[entity] = .dictionary(description)
                objects += [.dictionary(["values": .reference(objects.count + 1)]), slots]
            }
            let plate = try position("NSPropertyName", "numberPlate", in: objects)
            for (index, object) in objects.enumerated() {
                guard var list = object.dictionary, list.count == 2, let elements = list["NS.objects"]?.array,
                    elements.count == 1, case .reference(let number) = elements[0],
                    objects[number] == .string("numberPlate")
                else { continue }
                list["NS.objects"] = .array([.reference(plate)])
                objects[index] = .dictionary(list)
            }
        }
        #expect(found.entities == expected)
        #expect(found.entities.first { $0.name == "Car" }?.uniquenessConstraints == [["numberPlate"]])
    }

    @Test("have the elements of a composite attribute, under whatever key they are")
    func composites() throws {
        let found = try contents { objects in
            let owner = try position("NSPropertyName", "color", in: objects)
            var color = try #require(objects[owner].dictionary)
            let elements = try ["maker", "model"].map {
                PropertyListValue.reference(try position("NSPropertyName", $0, in: objects))
            }
            color["NSAttributeType"] = .integer(2100)
            color["NSParts"] = .reference(objects.count)
            objects[owner] = .dictionary(color)
            objects.append(.dictionary(["NS.objects": .array(elements)]))
        }
        let color = try #require(
            found.entities.first { $0.name == "Car" }?.attributes.first { $0.name == "color" })
        #expect(color.type == .composite && color.elements.map(\.name) == ["maker", "model"])
        #expect(color.elements.map(\.type) == [.string, .string])
    }
}
