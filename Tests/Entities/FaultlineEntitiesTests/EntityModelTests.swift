import FaultlineEntities
import Foundation
import Testing

@Suite("Models of declared entities")
struct EntityModelTests {
    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: Car.self, SportCar.self, Truck.self)
    }

    @Test("A model contains the named entities, their parents and their destinations")
    func closure() throws {
        #expect(try model().entities.map(\.name) == ["Car", "SportCar", "Lorry", "Driver", "Garage", "Team"])
        // Their subentities are not included.
        #expect(try ManagedObjectModel(entities: Driver.self).entities.map(\.name) == ["Driver", "Car", "Garage"])
        #expect(
            try ManagedObjectModel(entities: SportCar.self).entities.map(\.name).sorted() == [
                "Car", "Driver", "Garage", "SportCar", "Team",
            ])
    }

    @Test("Attributes have the types, defaults and options of their variables")
    func attributes() throws {
        let car = try #require(try model().entity(named: "Car"))
        #expect(
            car.attributes == [
                AttributeDescription("plate", .string, isOptional: false, defaultValue: ""),
                AttributeDescription("wheels", .integer64, isOptional: false, defaultValue: 4),
                AttributeDescription("doors", .integer16, isOptional: false, defaultValue: 5),
                AttributeDescription("seats", .integer32),
                AttributeDescription("mileage", .integer64, isOptional: false, defaultValue: -1),
                AttributeDescription("power", .double, isOptional: false, defaultValue: 0.5),
                AttributeDescription("torque", .float),
                AttributeDescription("isSold", .boolean, isOptional: false, defaultValue: false),
                AttributeDescription("price", .decimal, isOptional: false, defaultValue: .decimal(100)),
                AttributeDescription("builtAt", .date),
                AttributeDescription("photo", .binary, allowsExternalBinaryDataStorage: true),
                AttributeDescription("serial", .uuid),
                AttributeDescription("manual", .uri),
                AttributeDescription("fuel", .string, isOptional: false, defaultValue: "petrol"),
                AttributeDescription("wear", .integer64),
                AttributeDescription("mood", .integer64, isOptional: false, isTransient: true, defaultValue: 7),
                AttributeDescription(
                    "nickname", .string, defaultValue: "none", renamingIdentifier: "label", userInfo: ["note": "shown"]),
            ])
        #expect(car.uniquenessConstraints == [["plate"]])
        #expect(car.attributes[0].declaredAt == "FaultlineEntitiesTests/Garage.swift:15")
        #expect(car.declaredAt == "FaultlineEntitiesTests/Garage.swift:14")
        #expect(
            try model().entity(named: "Lorry")?.attributes == [
                AttributeDescription("load", .double, minimumValue: 1.0, maximumValue: 40.0)
            ])
        #expect(
            try model().entity(named: "Driver")?.attributes == [
                AttributeDescription(
                    "name", .string, isOptional: false, minimumValue: 2, maximumValue: 40,
                    regularExpression: "[A-Z].*")
            ])
    }

    @Test("A relationship has the inverse that either side names, or the only possible one")
    func relationships() throws {
        let model = try model()
        #expect(
            model.entity(named: "Car")?.relationships == [
                RelationshipDescription("driver", to: "Driver", inverse: "cars"),
                RelationshipDescription("garages", to: "Garage", inverse: "cars", isToMany: true),
            ])
        #expect(
            model.entity(named: "Driver")?.relationships == [
                RelationshipDescription("cars", to: "Car", inverse: "driver", isToMany: true),
                RelationshipDescription("mentor", to: "Driver", inverse: "students"),
                RelationshipDescription("students", to: "Driver", inverse: "mentor", isToMany: true),
            ])
        #expect(
            model.entity(named: "Garage")?.relationships == [
                RelationshipDescription(
                    "cars", to: "Car", inverse: "garages", isToMany: true, minimumCount: 1, maximumCount: 100)
            ])
        #expect(
            model.entity(named: "Team")?.relationships == [
                RelationshipDescription(
                    "cars", to: "SportCar", inverse: "team", isToMany: true, isOrdered: true, deleteRule: .cascade),
                RelationshipDescription("home", to: "Garage", inverse: nil, isOptional: false),
            ])
        #expect(model.entity(named: "SportCar")?.parent == "Car")
        #expect(
            model.entity(named: "Garage")?.indexes == [FetchIndexDescription("byCityAndNumber", on: "city", "number")])
        #expect(model.entity(named: "Garage")?.uniquenessConstraints == [["city", "number"]])
    }

    @Test("Key paths give the names of properties, from the class and from its subclasses")
    func propertyNames() {
        #expect(Car.propertyName(\.wheels) == "wheels")
        #expect(Car.propertyName(\.driver) == "driver")
        #expect(Car.propertyName(\.garages) == "garages")
        #expect(SportCar.propertyName(\.wheels) == "wheels")
        #expect(SportCar.propertyName(\.topSpeed) == "topSpeed")
        #expect(Car.propertyName(\.title) == nil)
        #expect(Car.propertyName(\.looks) == nil)
        #expect(Car.propertyName(\.driver?.name) == nil)
        #expect(Car.entityDeclaration.propertyNames.count == 19)
        #expect(SportCar.entityDeclaration.propertyNames.count == 21)
        #expect(SportCar.entityDeclaration.propertyNames[\Car.wheels] == nil)
    }

    @Test("An invalid model throws an error with the variable's line")
    func modelError() {
        let error = #expect(throws: ModelError.self) { try ManagedObjectModel(entities: Lonely.self) }
        #expect(
            error?.message
                == "The inverse of 'Lonely.car', 'Car.driver', does not point back; make 'car' of 'Lonely' its inverse."
        )
        #expect(error?.declaredAt == "FaultlineEntitiesTests/EntityModelTests.swift:\(Lonely.line)")
        let double = #expect(throws: ModelError.self) { try ManagedObjectModel(entities: Car.self, Twin.self) }
        #expect(double?.message == "Two entities are named 'Car'; rename one of them.")
    }
}

/// Has a relationship whose inverse points elsewhere.
@Entity private final class Lonely: ManagedObject {
    static let line = #line + 1
    @Relationship(inverse: \Car.driver) var car: Car?
}

@Entity("Car") private final class Twin: ManagedObject {}
