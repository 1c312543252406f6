import FaultlineEntities
import Foundation

enum Fuel: String, Codable, CaseIterable {
    case petrol, electric
}

enum Wear: Int {
    case none = 0
    case some = 10
}

/// A car, with every attribute type and with subentities.
@Entity class Car: ManagedObject {
    @Attribute(.unique) var plate: String = ""
    var wheels: Int = 4
    var doors: Int16 = 5
    var seats: Int32?
    var mileage: Int64 = -1
    var power: Double = 0.5
    var torque: Float?
    var isSold: Bool = false
    var price: Decimal = 100
    var builtAt: Date?
    @Attribute(.externalStorage) var photo: Data?
    var serial: UUID?
    var manual: URL?
    var fuel: Fuel = .petrol
    var wear: Wear?
    @Attribute(.transient) var mood: Int = 7
    @Attribute(isOptional: true, renamingIdentifier: "label", userInfo: ["note": "shown"]) var nickname: String = "none"
    @EntityIgnored var looks = 0
    @Relationship(deleteRule: .nullify, inverse: \Driver.cars) var driver: Driver?
    @Relationship(inverse: \Garage.cars) var garages: ToMany<Garage>

    /// A computed property, which is not stored and not part of the entity.
    var title: String { "\(plate), \(wheels) wheels" }

    convenience init(context: ManagedObjectContext, plate: String) {
        self.init(context: context)
        self.plate = plate
    }
}

@Entity final class SportCar: Car {
    var topSpeed: Int = 200
    var team: Team?
}

@Entity("Lorry") final class Truck: Car {
    @Attribute(minimumValue: 1, maximumValue: 40) var load: Double?
}

@Entity final class Driver: ManagedObject {
    @Attribute(minimumValue: 2, maximumValue: 40, regularExpression: "[A-Z].*") var name: String
    var cars: ToMany<Car>
    /// Refers to its own entity, in both directions.
    var mentor: Driver?
    var students: ToMany<Driver>
}

@Entity final class Garage: ManagedObject {
    var city: String = ""
    var number: Int = 0
    @Relationship(minimumCount: 1, maximumCount: 100) var cars: ToMany<Car>

    #Unique<Garage>([\.city, \.number])
    #Index<Garage>([\.city, \.number])
}

@Entity final class Team: ManagedObject {
    var name: String?
    @Relationship(deleteRule: .cascade, inverse: \SportCar.team) var cars: OrderedToMany<SportCar>
    @Relationship(inverse: nil, isOptional: false) var home: Garage?
}
