import Foundation
import SharedData
import Testing

@testable import FaultlineModel

@Suite("The outline of a mapping model", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct MappingOutlineTests {
    private func outline(_ path: String) throws -> MappingOutline {
        try MappingOutline(contentsOf: SharedData.url(path))
    }

    @Test("has the entities in order, their policies, and the expressions that the file has")
    func cars() throws {
        let outline = try outline("core-data-stores/coredataplus/SampleModel/MappingModels/V2toV3.xcmappingmodel")
        #expect(outline.source == "SampleModel2.xcdatamodel" && outline.destination == "SampleModel3.xcdatamodel")
        #expect(
            outline.entities.map(\.name) == [
                "CarToCar", "LuxuryCarToLuxuryCar", "PersonToPerson", "SportCarToSportCar", "Maker",
            ])
        let car = try #require(outline.entities.first)
        #expect(car.policy == "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
        #expect(car.properties.map(\.name).suffix(3) == ["createdBy", "owner", "previousOwners"])
        #expect(
            car.properties.last?.value
                == .expression(
                    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"PersonToPerson\", $source.owner)"
                ))
        #expect(car.properties.first?.value == .sameName)
        // An entity without an older one has nothing to continue.
        let maker = try #require(outline.entities.last)
        #expect(maker.source == nil && maker.properties.map(\.value) == [.none, .none])
    }

    @Test("has the key path and the mapping that a relationship names instead of an expression")
    func keyPaths() throws {
        let outline = try outline(
            "core-data-models/objcio/Migrations/Migrations/Moody 2-Moody 3.xcmappingmodel/xcmapping.xml")
        let values = outline.entities[0].properties.filter(\.isRelationship).map(\.value)
        #expect(
            values == [
                .expression("$source.country.continent, as objects of ContinentToContinent"),
                .expression("$source.country, as objects of CountryToCountry"),
            ])
    }

    @Test("of each file agrees with the mapping model between its two versions", arguments: SharedMapping.all)
    func agrees(_ mapping: SharedMapping) throws {
        let outline = try MappingOutline(contentsOf: mapping.url)
        let model = try mapping.load()
        #expect(outline.entities.map(\.name) == model.entityMappings.map(\.name))
        #expect(outline.entities.map(\.policy) == model.entityMappings.map(\.entityMigrationPolicyClassName))
        for (entity, other) in zip(outline.entities, model.entityMappings) {
            let properties = other.attributeMappings + other.relationshipMappings
            #expect(Set(entity.properties.map(\.name)) == Set(properties.map(\.name)))
        }
    }
}
