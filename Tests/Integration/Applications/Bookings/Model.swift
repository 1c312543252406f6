import FaultlineModel
import FaultlineStore
import Foundation

final class Room: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let numberKey = AttributeKey<Int>("number")
    static let bookingsKey = ToManyKey<Booking>("bookings")
    var name: String { self[Self.nameKey] }
    var number: Int { self[Self.numberKey] }
}

final class Booking: ManagedObject {
    static let guestKey = AttributeKey<String>("guest")
    static let startKey = AttributeKey<Date>("start")
    static let endKey = AttributeKey<Date>("end")
    static let createdAtKey = AttributeKey<Date>("createdAt")
    static let priceKey = AttributeKey<Double>("price")
    static let roomKey = ToOneKey<Room>("room")
    var guest: String { self[Self.guestKey] }
    var start: Date { self[Self.startKey] }
    var end: Date { self[Self.endKey] }
    var createdAt: Date { self[Self.createdAtKey] }
    var price: Double { self[Self.priceKey] }
    var room: Room? { self[Self.roomKey] }
}

/// - Parameter isIndexed: Whether bookings can be found by their dates.
func makeModel(isIndexed: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Room",
            attributes: [
                AttributeDescription("name", .string, isOptional: false),
                AttributeDescription("number", .integer64, isOptional: false),
            ],
            relationships: [RelationshipDescription("bookings", to: "Booking", inverse: "room", isToMany: true)]),
        EntityDescription(
            "Booking",
            attributes: [
                AttributeDescription("guest", .string, isOptional: false),
                AttributeDescription("start", .date, isOptional: false),
                AttributeDescription("end", .date, isOptional: false),
                AttributeDescription("createdAt", .date, isOptional: false),
                AttributeDescription("price", .double, isOptional: false),
            ],
            relationships: [RelationshipDescription("room", to: "Room", inverse: "bookings")],
            indexes: isIndexed
                ? [
                    FetchIndexDescription("byStart", on: "start"), FetchIndexDescription("byCreation", on: "createdAt"),
                ] : []),
    ])
}

/// The first day of 2026, and what a day lasts.
let newYear = Date(timeIntervalSince1970: 1_767_225_600)
let day = 86_400.0

/// A hundred rooms that are booked for three nights each, eighty times a year.
func fill(_ context: ManagedObjectContext) throws {
    let rooms = (0..<100).map { number in
        let room = Room(context: context)
        room[Room.nameKey] = "Room \(number)"
        room[Room.numberKey] = number
        return room
    }
    for number in 0..<8000 {
        let booking = Booking(context: context)
        let start = newYear + Double(number / 100) * 4 * day
        booking[Booking.guestKey] = "Guest \(number)"
        booking[Booking.startKey] = start
        booking[Booking.endKey] = start + 3 * day
        booking[Booking.createdAtKey] = newYear + Double(number * 7919 % 8000) * 60
        booking[Booking.priceKey] = Double(number % 90) + 60
        booking[Booking.roomKey] = rooms[number % 100]
    }
    try context.save()
}
