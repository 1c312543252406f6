import FaultlineModel
import Foundation
import SharedData
import TestFolders
import Testing

@Suite("A search for the mapping model of two models")
struct MappingModelSearchTests {
    @Test(
        "finds it among all files", .enabled(if: SharedData.exists, "\(SharedData.need)"), arguments: SharedMapping.all)
    func all(_ shared: SharedMapping) throws {
        let versions = try ModelVersions(contentsOf: SharedData.url(shared.models))
        let (source, destination) = (try versions.model(shared.source), try versions.model(shared.destination))
        let urls = try SharedMapping.all.map { try $0.url }
        let search = MappingModelSearch(urls, from: source, to: destination)
        #expect(search.matches.count + search.misfits.count == urls.count)
        #expect(search.misfits.allSatisfy { $0.error.code == .invalidMapping })
        let found = try #require(try MappingModel(from: urls, forSourceModel: source, destinationModel: destination))
        #expect(try found == shared.load())
        #expect(try found == search.mappingModel)
        // Without their files, two neighbouring versions can be too much alike.
        let codeSource = try ManagedObjectModel(entities: source.entities)
        let codeDestination = try ManagedObjectModel(entities: destination.entities)
        let unnamed = MappingModelSearch(urls, from: codeSource, to: codeDestination)
        if unnamed.matches.count == 1 {
            #expect(try unnamed.mappingModel == shared.load())
        } else {
            #expect(throws: ModelError.self) { try unnamed.mappingModel }
        }
    }

    @Test(
        "finds the two of several versions that a file leads between",
        .enabled(if: SharedData.exists, "\(SharedData.need)"), arguments: SharedMapping.all)
    func between(_ shared: SharedMapping) throws {
        let versions = try ModelVersions(contentsOf: SharedData.url(shared.models))
        let names = versions.names.first == shared.destination ? versions.names.reversed() : versions.names
        let found = try MappingModel(contentsOf: shared.url, between: names.map { try versions.model($0) })
        #expect(try found == shared.load())
        let others = try names.filter { $0 != shared.source && $0 != shared.destination }.map { try versions.model($0) }
        if others.count > 1 {
            let error = #expect(throws: ModelError.self) {
                try MappingModel(contentsOf: shared.url, between: [others[0], others[0]])
            }
            #expect(error?.code == .invalidMapping)
        }
    }

    @Test("lists matches, misfits and unmapped entities")
    func values() throws {
        let (source, destination) = try MappingText.models()
        let folder = try TestFolder.make()
        func file(_ name: String, _ text: String) throws -> URL {
            let url = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: url)
            return url
        }
        let car = MappingText.entity("c", [("sourcename", "Car"), ("destinationname", "Car")])
        let boat = MappingText.entity("c", [("sourcename", "Boat"), ("destinationname", "Car")])
        let first = try file("first.xml", MappingText.file([car], entities: ["c"]))
        let wrong = try file("wrong.xml", MappingText.file([boat], entities: ["c"]))
        let broken = try file("broken.xml", "")

        let search = MappingModelSearch([wrong, first, broken], from: source, to: destination)
        #expect(search.matches.map(\.url) == [first])
        #expect(search.matches.map(\.unmappedEntities) == [["Person"]])
        #expect(search.misfits.map(\.url) == [wrong, broken])
        #expect(search.misfits.map(\.error.code) == [.invalidMapping, .notAModel])
        #expect(search.misfits.map(\.error.entity) == ["Boat", nil])
        #expect(try search.mappingModel?.entityMappings.map(\.name) == ["CarToCar"])
        #expect(
            try MappingModel(from: [wrong, broken], forSourceModel: source, destinationModel: destination) == nil)

        let second = try file("second.xml", MappingText.file([car], entities: ["c"]))
        let error = #expect(throws: ModelError.self) {
            try MappingModel(from: [first, wrong, second], forSourceModel: source, destinationModel: destination)
        }
        #expect(error?.code == .ambiguousMapping)
        #expect(
            error?.message
                == "2 mapping models fit the two models: '\(first.path)' and '\(second.path)'; load the right one by its name."
        )
    }
}
