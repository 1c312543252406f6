import FaultlineModel
import FaultlineStore
import Foundation
import Testing

/// Validates its own code, and that the last day is not before the first.
final class Trip: ManagedObject {
    struct Reversed: Error, CustomStringConvertible {
        let description = "The trip ends before it begins"
    }

    static let code = AttributeKey<String?>("code")
    static let seats = AttributeKey<Int?>("seats")
    static let fare = AttributeKey<Decimal?>("fare")
    static let weight = AttributeKey<Double?>("weight")
    static let first = AttributeKey<Date?>("first")
    static let last = AttributeKey<Date?>("last")
    static let stops = ToManyKey<Stop>("stops")

    var stops: ToMany<Stop> { self[Self.stops] }
    var validated: [String] = []
    var isRefusingDeletion = false

    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        validated.append(key)
        if key == "code", let code = value as? String { value = code.uppercased() }
        try super.validateValue(&value, forKey: key)
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        try checkDays()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try checkDays()
    }

    override func validateForDelete() throws {
        try super.validateForDelete()
        if isRefusingDeletion { throw Reversed() }
    }

    private func checkDays() throws {
        if let first = self[Self.first], let last = self[Self.last], last < first { throw Reversed() }
    }
}

/// Leaves validation to the model.
final class Stop: ManagedObject {
    static let name = AttributeKey<String?>("name")
    static let nights = AttributeKey<Int?>("nights")
    static let score = AttributeKey<Double?>("score")
    static let day = AttributeKey<Date?>("day")
    static let trip = ToOneKey<Trip>("trip")
}

@Suite("A save validates the values against the model")
struct ValidationTests {
    private static let day = Date(timeIntervalSinceReferenceDate: 0)

    private static let entities = [
        EntityDescription(
            "Trip",
            attributes: [
                AttributeDescription("code", .string, isOptional: false, regularExpression: "[A-Z]{3}|NONE"),
                AttributeDescription("seats", .integer16, minimumValue: 1, maximumValue: 9),
                AttributeDescription("fare", .decimal, minimumValue: .decimal(Decimal(string: "0.01")!)),
                AttributeDescription("weight", .double, isOptional: false, defaultValue: 1.5, maximumValue: 20.5),
                AttributeDescription("first", .date), AttributeDescription("last", .date),
            ],
            relationships: [
                RelationshipDescription(
                    "stops", to: "Stop", inverse: "trip", isToMany: true, deleteRule: .deny, minimumCount: 2,
                    maximumCount: 3)
            ]),
        EntityDescription(
            "Stop",
            attributes: [
                AttributeDescription("name", .string, isOptional: false, minimumValue: 2, maximumValue: 4),
                AttributeDescription("nights", .integer64, minimumValue: 1, maximumValue: 9),
                AttributeDescription("score", .double, isOptional: false, defaultValue: 1.0),
                AttributeDescription(
                    "day", .date, minimumValue: .date(day), maximumValue: .date(day.addingTimeInterval(86400))),
            ],
            relationships: [RelationshipDescription("trip", to: "Trip", inverse: "stops", isOptional: false)]),
    ]

    private func makeStore() throws -> TestStore {
        try TestStore(Self.entities, classes: [Trip.self, Stop.self])
    }

    private func makeTrip(_ context: ManagedObjectContext) -> Trip {
        let trip = Trip(context: context)
        trip[Trip.code] = "ABC"
        for name in ["Rome", "Oslo"] { addStop(name, to: trip) }
        return trip
    }

    @discardableResult
    private func addStop(_ name: String?, to trip: Trip) -> Stop {
        let stop = Stop(context: trip.managedObjectContext)
        stop[Stop.name] = name
        stop[Stop.trip] = trip
        return stop
    }

    private func failure(_ context: ManagedObjectContext) throws -> StoreError {
        try #require(throws: StoreError.self) { try context.save() }
    }

    @Test("Each constraint has its error code and message, for insertions and updates", arguments: [false, true])
    func demands(_ isUpdate: Bool) throws {
        let store = try makeStore()
        let trip = makeTrip(store.context)
        let stop = addStop("Bern", to: trip)
        if isUpdate { try store.context.save() }

        func check(
            _ object: ManagedObject, _ key: String, _ value: AttributeValue?, _ good: AttributeValue?,
            _ code: StoreError.Code, _ sentence: String
        ) throws {
            object[key] = value?.plainForTest
            let error = try failure(store.context)
            #expect(error.code == code)
            #expect(error.message == "Saving \(object.entityName) \(object.objectID): '\(key)' \(sentence)")
            #expect(error.objectID == object.objectID)
            #expect(error.validationKey == key)
            #expect(error.validationValue == value)
            #expect(error.detailedErrors.isEmpty)
            object[key] = good?.plainForTest
        }
        try check(
            stop, "name", nil, "Bern", .missingMandatoryProperty,
            "has no value and is not optional; set it, or make it optional in the model.")
        try check(
            stop, "name", "B", "Bern", .stringTooShort,
            "has 1 character, fewer than the model's minimum of 2; set a longer string, or lower the minimum in the model."
        )
        try check(
            stop, "name", "Zürich", "Bern", .stringTooLong,
            "has 6 characters, more than the model's maximum of 4; set a shorter string, or raise the maximum in the model."
        )
        try check(
            stop, "nights", 0, 1, .numberTooSmall,
            "is 0, less than the model's minimum of 1; set a greater value, or lower the minimum in the model.")
        try check(
            stop, "nights", 10, 9, .numberTooLarge,
            "is 10, more than the model's maximum of 9; set a smaller value, or raise the maximum in the model.")
        try check(
            stop, "day", .date(Self.day.addingTimeInterval(-1)), .date(Self.day), .dateTooSoon,
            "is 2000-12-31T23:59:59Z, less than the model's minimum of 2001-01-01T00:00:00Z; set a greater value, or lower the minimum in the model."
        )
        try check(
            stop, "day", .date(Self.day.addingTimeInterval(86401)), nil, .dateTooLate,
            "is 2001-01-02T00:00:01Z, more than the model's maximum of 2001-01-02T00:00:00Z; set a smaller value, or raise the maximum in the model."
        )
        try check(
            trip, "fare", .decimal(0), .decimal(1), .numberTooSmall,
            "is 0, less than the model's minimum of 0.01; set a greater value, or lower the minimum in the model.")
        try check(
            trip, "weight", 20.75, 20.5, .numberTooLarge,
            "is 20.75, more than the model's maximum of 20.5; set a smaller value, or raise the maximum in the model.")
        stop[Stop.score] = .nan
        let error = try failure(store.context)
        #expect(
            error.message
                == "Saving Stop \(stop.objectID): 'score' is not a number (NaN), which SQLite stores as NULL, and is not optional; set a number, or make it optional in the model."
        )
        stop[Stop.score] = 1
        try store.context.save()
    }

    @Test("A string must match the regular expression as a whole")
    func pattern() throws {
        let store = try makeStore()
        let trip = makeTrip(store.context)
        for wrong in ["AB", "ABCD", "ABC\n", "A1C"] {
            trip[Trip.code] = wrong
            let error = try failure(store.context)
            #expect(error.code == .stringPatternMatching)
            #expect(
                error.message
                    == "Saving Trip \(trip.objectID): 'code' does not match the model's regular expression '[A-Z]{3}|NONE'; set a string that does, or correct the expression in the model."
            )
        }
        trip[Trip.code] = "NONE"
        try store.context.save()
    }

    @Test("Opening a store with an invalid regular expression throws an error")
    func badPattern() throws {
        let error = try #require(throws: StoreError.self) {
            _ = try TestStore(
                [EntityDescription("A", attributes: [AttributeDescription("x", .string, regularExpression: "[")])],
                classes: [])
        }
        #expect(error.code == .unsupportedModel)
        #expect(
            error.message.hasSuffix(
                "does not support 'A.x', whose regular expression '[' is invalid; correct it in the model."))
    }

    @Test("The number of related objects is limited, unless an optional relationship is empty")
    func counts() throws {
        let store = try makeStore()
        let trip = makeTrip(store.context)
        trip.stops.remove(trip.stops[1])
        let lonely = try #require(trip.managedObjectContext.insertedObjects.last)
        store.context.delete(lonely)
        let few = try failure(store.context)
        #expect(few.code == .relationshipLacksMinimumCount)
        #expect(
            few.message
                == "Saving Trip \(trip.objectID): 'stops' has 1 object, fewer than the model's minimum of 2; add some, or lower the minimum in the model."
        )
        let more = ["a1", "a2", "a3"].map { addStop($0, to: trip) }
        let many = try failure(store.context)
        #expect(many.code == .relationshipExceedsMaximumCount)
        #expect(
            many.message
                == "Saving Trip \(trip.objectID): 'stops' has 4 objects, more than the model's maximum of 3; remove some, or raise the maximum in the model."
        )
        store.context.delete(more[0])
        try store.context.save()
        // An optional relationship may be empty.
        let empty = Trip(context: store.context)
        empty[Trip.code] = "XYZ"
        try store.context.save()
    }

    @Test("Several failures are one error that lists each with its object, key and value")
    func several() throws {
        let store = try makeStore()
        let trip = Trip(context: store.context)
        trip[Trip.code] = "x"
        trip[Trip.seats] = 10
        let stop = Stop(context: store.context)
        stop[Stop.name] = "Y"
        trip[Trip.first] = Self.day
        trip[Trip.last] = Self.day.addingTimeInterval(-1)
        let error = try failure(store.context)
        #expect(error.code == .multipleValidationErrors)
        #expect(
            error.message
                == "Saving is refused for 4 reasons, all listed in detailedErrors; the first: Saving Stop \(stop.objectID): 'name' has 1 character, fewer than the model's minimum of 2; set a longer string, or lower the minimum in the model."
        )
        let detailed = error.detailedErrors.compactMap { $0 as? StoreError }
        #expect(
            detailed.map(\.code) == [
                .stringTooShort, .missingMandatoryProperty, .stringPatternMatching, .numberTooLarge,
            ])
        #expect(detailed.map(\.validationKey) == ["name", "trip", "code", "seats"])
        #expect(detailed.map(\.validationValue) == ["Y", nil, "X", 10])
        #expect(detailed.map(\.objectID) == [stop.objectID, stop.objectID, trip.objectID, trip.objectID])
        #expect(try store.sql("SELECT COUNT(*) FROM ZTRIP") == ["0"])
    }

    @Test("A class can validate more than the model, change values, and throw its own errors")
    func custom() throws {
        let store = try makeStore()
        let trip = makeTrip(store.context)
        trip[Trip.code] = "abc"
        trip[Trip.first] = Self.day
        trip[Trip.last] = Self.day.addingTimeInterval(-1)
        #expect(throws: Trip.Reversed.self) { try store.context.save() }
        #expect(trip.validated == ["code", "fare", "first", "last", "seats", "weight", "stops"])
        #expect(trip[Trip.code] == "ABC", "what validation put in its place")
        trip[Trip.last] = Self.day
        try store.context.save()
        #expect(try store.sql("SELECT ZCODE FROM ZTRIP") == ["ABC"])
        trip.validated = []
        trip[Trip.seats] = 2
        try store.context.save()
        #expect(trip.validated == ["seats"], "an update asks for what was set")

        let other = makeTrip(store.context)
        other[Trip.first] = Self.day
        other[Trip.last] = Self.day.addingTimeInterval(-1)
        trip[Trip.seats] = 0
        let error = try failure(store.context)
        #expect(
            error.message
                == "Saving is refused for 2 reasons, all listed in detailedErrors; the first: The trip ends before it begins."
        )
        #expect(error.detailedErrors[0] is Trip.Reversed)
        #expect((error.detailedErrors[1] as? StoreError)?.code == .numberTooSmall)
    }

    @Test("Delete rules and the class can deny a deletion")
    func deletion() throws {
        let store = try makeStore()
        let trip = makeTrip(store.context)
        try store.context.save()
        store.context.delete(trip)
        let error = try failure(store.context)
        #expect(error.code == .deleteDenied && error.validationKey == "stops" && error.objectID == trip.objectID)
        store.context.rollback()
        for stop in Array(trip.stops) { store.context.delete(stop) }
        trip.isRefusingDeletion = true
        store.context.delete(trip)
        #expect(throws: Trip.Reversed.self) { try store.context.save() }
        trip.isRefusingDeletion = false
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM ZTRIP") == ["0"])
    }

    @Test("A value can be validated before it is set")
    func beforehand() throws {
        let store = try makeStore()
        let stop = Stop(context: store.context)
        func message(_ value: Any?, _ key: String) -> String {
            var value = value
            return performing { try stop.validateValue(&value, forKey: key) }
                .replacing("Saving Stop \(stop.objectID): ", with: "")
        }
        #expect(message("Rome", "name") == "no error")
        #expect(
            message("R", "name")
                == "'name' has 1 character, fewer than the model's minimum of 2; set a longer string, or lower the minimum in the model."
        )
        #expect(
            message(nil, "name") == "'name' has no value and is not optional; set it, or make it optional in the model."
        )
        #expect(message(3, "name") == "'name' cannot be 3; set a value of type String.")
        #expect(message([1], "name") == "'name' cannot be a Array<Int>; set a value of type String.")
        #expect(
            message(nil, "trip") == "'trip' has no value and is not optional; set it, or make it optional in the model."
        )
        #expect(message(4, "nights") == "no error")
        #expect(stop[Stop.name] == nil, "nothing was set")
    }
}

extension AttributeValue {
    fileprivate var plainForTest: Any {
        switch self {
        case .integer(let value): value
        case .decimal(let value): value
        case .double(let value): value
        case .string(let value): value
        case .date(let value): value
        default: preconditionFailure("Not used here.")
        }
    }
}
