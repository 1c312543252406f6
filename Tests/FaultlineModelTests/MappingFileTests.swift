import FaultlineModel
import Foundation
import SharedData
import Testing

@Suite("Third-party mapping models load", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct MappingFileTests {
    /// Returns a line for each entity mapping.
    private func entities(_ mapping: MappingModel) -> [String] {
        mapping.entityMappings.map {
            "\($0.name) \($0.mappingType) \($0.sourceEntityName ?? "none") \($0.destinationEntityName ?? "none")"
        }
    }

    /// Returns a line for each property whose expression is not that of the property with its name.
    private func expressions(_ mapping: MappingModel) -> [String] {
        mapping.entityMappings.flatMap { mapping in
            (mapping.attributeMappings + mapping.relationshipMappings).compactMap { property in
                let text = property.valueExpression?.description ?? "none"
                return text == "$source.\(property.name)"
                    ? nil : "\(mapping.destinationEntityName ?? "").\(property.name) = \(text)"
            }
        }
    }

    private func instances(_ mapping: String, _ path: String) -> String {
        "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", $source.\(path))"
    }

    private func instances(_ relationship: String) -> String {
        "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"\(relationship)\", $source.\(relationship))"
    }

    @Test("All mapping models are found")
    func count() {
        #expect(SharedData.paths(endingIn: ".xcmappingmodel") == SharedMapping.all.map(\.path).sorted())
    }

    @Test("The file in the folder can be named too", arguments: SharedMapping.all)
    func file(_ mapping: SharedMapping) throws {
        var file = mapping
        file.path += "/xcmapping.xml"
        #expect(try file.load() == mapping.load())
    }

    @Test("Each mapping has the hashes of its entities", arguments: SharedMapping.all)
    func hashes(_ shared: SharedMapping) throws {
        let versions = try ModelVersions(contentsOf: SharedData.url(shared.models))
        let source = try versions.model(shared.source).entityVersionHashesByName
        let destination = try versions.model(shared.destination).entityVersionHashesByName
        for mapping in try shared.load().entityMappings {
            #expect(mapping.sourceEntityVersionHash == mapping.sourceEntityName.flatMap { source[$0] })
            #expect(mapping.destinationEntityVersionHash == mapping.destinationEntityName.flatMap { destination[$0] })
            #expect(mapping.destinationEntityVersionHash?.count == 32)
            #expect(mapping.sourceExpression == nil)
            #expect(mapping.userInfo.isEmpty)
        }
    }

    @Test("A key path with the name of a mapping becomes an expression")
    func keyPaths() throws {
        let mapping = try SharedMapping.moody2.load()
        #expect(
            entities(mapping) == [
                "MoodToMood transform Mood Mood", "CountryToCountry copy Country Country",
                "ContinentToContinent transform Continent Continent",
            ])
        #expect(
            expressions(mapping) == [
                "Mood.continent = " + instances("ContinentToContinent", "country.continent"),
                "Mood.country = " + instances("CountryToCountry", "country"),
                "Country.continent = " + instances("ContinentToContinent", "continent"),
                "Country.moods = " + instances("MoodToMood", "moods"),
                "Continent.countries = " + instances("CountryToCountry", "countries"),
                "Continent.moods = " + instances("MoodToMood", "countries.@distinctUnionOfSets.moods"),
            ])
        #expect(mapping.entityMappings.map(\.attributeMappings.count) == [9, 5, 6])
    }

    @Test("Automatic relationships get the expressions that Core Data gives them")
    func automatic() throws {
        let mapping = try SharedMapping.moody3.load()
        #expect(
            entities(mapping) == [
                "ContinentToContinent transform Continent Continent", "CountryToCountry transform Country Country",
                "MoodToMood copy Mood Mood",
            ])
        #expect(
            expressions(mapping) == [
                "Continent.countries = " + instances("CountryToCountry", "countries"),
                "Continent.moods = " + instances("MoodToMood", "moods"),
                "Country.continent = " + instances("ContinentToContinent", "continent"),
                "Country.moods = " + instances("MoodToMood", "moods"),
                "Mood.continent = " + instances("ContinentToContinent", "continent"),
                "Mood.country = " + instances("CountryToCountry", "country"),
            ])
    }

    @Test("An archived key path becomes an expression")
    func archivedKeyPath() throws {
        let mapping = try SharedMapping.moody4.load()
        #expect(entities(mapping) == ["MoodToMood transform Mood Mood", "CountryToCountry transform Country Country"])
        #expect(
            expressions(mapping) == [
                "Mood.country = " + instances("CountryToCountry", "country"),
                "Country.isoContinent = $source.continent.numericISO3166Code",
                "Country.moods = " + instances("MoodToMood", "moods"),
            ])
    }

    @Test("A policy makes a mapping custom, and a mapping without a source adds an entity")
    func policy() throws {
        let mapping = try SharedMapping.moody5.load()
        #expect(
            entities(mapping) == [
                "Continent add none Continent", "CountryToCountry custom Country Country",
                "MoodToMood copy Mood Mood",
            ])
        #expect(
            mapping.entityMappings.map(\.entityMigrationPolicyClassName)
                == [nil, "Migrations.Country5ToCountry6Policy", nil])
        #expect(
            expressions(mapping) == [
                "Continent.numericISO3166Code = none", "Continent.countries = none", "Country.continent = none",
                "Country.moods = " + instances("MoodToMood", "moods"),
                "Mood.country = " + instances("CountryToCountry", "country"),
            ])
    }

    @Test("Archived constants and renamed attributes become expressions")
    func renamed() throws {
        let forward = try SharedMapping.evolution1.load()
        #expect(entities(forward) == ["CreatureToCreature custom Creature Creature"])
        #expect(
            forward.entityMappings[0].entityMigrationPolicyClassName
                == "Advanced_EvolutionDemo_V2_FromV1MigrationPolicy")
        #expect(
            expressions(forward) == [
                "Creature.hasHead = YES", "Creature.hasTail = none", "Creature.hasVertebrae = none",
                "Creature.numberOfFlippers = $source.numberOfFlagella",
            ])
        let back = try SharedMapping.evolution2.load()
        #expect(entities(back) == ["CreatureToCreature transform Creature Creature"])
        #expect(expressions(back) == ["Creature.numberOfFlagella = $source.numberOfFlippers"])
    }

    @Test("Relationships to an entity with subentities name the relationship rather than a mapping")
    func subentities() throws {
        let mapping = try SharedMapping.sample.load()
        #expect(
            entities(mapping) == [
                "CarToCar custom Car Car", "LuxuryCarToLuxuryCar custom LuxuryCar LuxuryCar",
                "PersonToPerson transform Person Person", "SportCarToSportCar custom SportCar SportCar",
                "Maker add none Maker",
            ])
        let cars = ["Car", "LuxuryCar", "SportCar"].map { entity in
            [
                "\(entity).createdBy = none", "\(entity).owner = " + instances("PersonToPerson", "owner"),
                "\(entity).previousOwners = " + instances("PersonToPerson", "owner"),
            ]
        }
        let persons = ["Person.cars = " + instances("cars"), "Person.previousCars = " + instances("cars")]
        #expect(
            expressions(mapping) == cars[0] + cars[1] + persons + cars[2] + ["Maker.name = none", "Maker.cars = none"])
        #expect(
            mapping.entityMappings.compactMap(\.entityMigrationPolicyClassName)
                == Array(repeating: "REPLACE_AT_RUNTIME.V2to3MakerPolicy", count: 3))
    }
}
