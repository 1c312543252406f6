// The classes of the model Fleet, written by "faultline model show --format swift".

import FaultlineStore
import Foundation

final class Ferry: Vessel {
    static let seats = AttributeKey<Int16>("seats")

    var seats: Int16 {
        get { self[Self.seats] }
        set { self[Self.seats] = newValue }
    }
}

final class Harbour: ManagedObject {
    static let vessels = OrderedToManyKey<Vessel>("vessels")

    var vessels: OrderedToMany<Vessel> { self[Self.vessels] }
}

final class Sailor: ManagedObject {
    static let vessels = ToManyKey<Vessel>("vessels")

    var vessels: ToMany<Vessel> { self[Self.vessels] }
}

final class Tugboat: Vessel {
    override class var entityName: String { "Tug" }
}

class Vessel: ManagedObject {
    static let big = AttributeKey<Int64?>("big")
    static let cargo = AttributeKey<Decimal?>("cargo")
    static let `case` = AttributeKey<String?>("case")
    // draft: Undefined, read with self["draft"].
    static let draught = AttributeKey<Double?>("draught")
    static let flag = AttributeKey<String?>("flag")
    static let home = AttributeKey<URL?>("home")
    static let imo = AttributeKey<UUID?>("imo")
    static let isAfloat = AttributeKey<Bool?>("isAfloat")
    static let launchedAt = AttributeKey<Date?>("launchedAt")
    static let length = AttributeKey<Float?>("length")
    static let medium = AttributeKey<Int32?>("medium")
    static let name = AttributeKey<String>("name")
    static let nameUpper = AttributeKey<String?>("nameUpper")
    static let plan = AttributeKey<Data?>("plan")
    static let route = AttributeKey<Data?>("route")
    static let small = AttributeKey<Int16?>("small")
    static let crew = ToManyKey<Sailor>("crew")
    static let harbour = ToOneKey<Harbour>("harbour")

    final var big: Int64? {
        get { self[Self.big] }
        set { self[Self.big] = newValue }
    }
    final var cargo: Decimal? {
        get { self[Self.cargo] }
        set { self[Self.cargo] = newValue }
    }
    final var `case`: String? {
        get { self[Self.`case`] }
        set { self[Self.`case`] = newValue }
    }
    final var draught: Double? {
        get { self[Self.draught] }
        set { self[Self.draught] = newValue }
    }
    final var flag: String? {
        get { self[Self.flag] }
        set { self[Self.flag] = newValue }
    }
    final var home: URL? {
        get { self[Self.home] }
        set { self[Self.home] = newValue }
    }
    final var imo: UUID? {
        get { self[Self.imo] }
        set { self[Self.imo] = newValue }
    }
    final var isAfloat: Bool? {
        get { self[Self.isAfloat] }
        set { self[Self.isAfloat] = newValue }
    }
    final var launchedAt: Date? {
        get { self[Self.launchedAt] }
        set { self[Self.launchedAt] = newValue }
    }
    final var length: Float? {
        get { self[Self.length] }
        set { self[Self.length] = newValue }
    }
    final var medium: Int32? {
        get { self[Self.medium] }
        set { self[Self.medium] = newValue }
    }
    final var name: String {
        get { self[Self.name] }
        set { self[Self.name] = newValue }
    }
    final var nameUpper: String? { self[Self.nameUpper] }
    final var plan: Data? {
        get { self[Self.plan] }
        set { self[Self.plan] = newValue }
    }
    final var route: Data? {
        get { self[Self.route] }
        set { self[Self.route] = newValue }
    }
    final var small: Int16? {
        get { self[Self.small] }
        set { self[Self.small] = newValue }
    }
    final var crew: ToMany<Sailor> { self[Self.crew] }
    final var harbour: Harbour? {
        get { self[Self.harbour] }
        set { self[Self.harbour] = newValue }
    }
}

/// The classes, for the `classes` of a `PersistentContainer`.
enum ModelClasses {
    static let all: [ManagedObject.Type] = [
        Ferry.self,
        Harbour.self,
        Sailor.self,
        Tugboat.self,
        Vessel.self,
    ]
}
