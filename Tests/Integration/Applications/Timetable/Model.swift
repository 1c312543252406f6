import FaultlineModel
import FaultlineStore

final class Line: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    var name: String { self[Self.nameKey] }
}

final class Journey: ManagedObject {
    static let numberKey = AttributeKey<Int>("number")
    static let lineKey = ToOneKey<Line>("line")
    static let callsKey = ToManyKey<Call>("calls")
    var line: Line? { self[Self.lineKey] }
}

final class Call: ManagedObject {
    static let minuteKey = AttributeKey<Int>("minute")
    static let journeyKey = ToOneKey<Journey>("journey")
    static let stopKey = ToOneKey<Stop>("stop")
    var minute: Int { self[Self.minuteKey] }
    var journey: Journey? { self[Self.journeyKey] }
}

final class Stop: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let fareKey = AttributeKey<Int>("fareZone")
    static let eastKey = AttributeKey<Double>("east")
    static let northKey = AttributeKey<Double>("north")
    static let callsKey = ToManyKey<Call>("calls")
    var name: String { self[Self.nameKey] }
    var east: Double { self[Self.eastKey] }
    var north: Double { self[Self.northKey] }
}

/// - Parameter isIndexed: Whether stops can be found by place.
func makeModel(isIndexed: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Line", attributes: [AttributeDescription("name", .string, isOptional: false)],
            relationships: [RelationshipDescription("journeys", to: "Journey", inverse: "line", isToMany: true)]),
        EntityDescription(
            "Journey", attributes: [AttributeDescription("number", .integer64, isOptional: false)],
            relationships: [
                RelationshipDescription("line", to: "Line", inverse: "journeys"),
                RelationshipDescription("calls", to: "Call", inverse: "journey", isToMany: true),
            ]),
        EntityDescription(
            "Call", attributes: [AttributeDescription("minute", .integer64, isOptional: false)],
            relationships: [
                RelationshipDescription("journey", to: "Journey", inverse: "calls"),
                RelationshipDescription("stop", to: "Stop", inverse: "calls"),
            ],
            indexes: [FetchIndexDescription("byStop", on: "stop", "minute")]),
        EntityDescription(
            "Stop",
            attributes: [
                AttributeDescription("name", .string, isOptional: false),
                AttributeDescription("fareZone", .integer64, isOptional: false),
                AttributeDescription("east", .double, isOptional: false),
                AttributeDescription("north", .double, isOptional: false),
            ],
            relationships: [RelationshipDescription("calls", to: "Call", inverse: "stop", isToMany: true)],
            indexes: [FetchIndexDescription("byName", on: "name")]
                + (isIndexed ? [FetchIndexDescription("byPlace", on: "east", "north")] : [])),
    ])
}

/// Twenty lines with thirty journeys each, which call at twelve of a thousand stops.
func fill(_ context: ManagedObjectContext) throws {
    let stops = (0..<1000).map { number in
        let stop = Stop(context: context)
        stop[Stop.nameKey] = "\(["Old", "New", "Upper", "Lower"][number % 4]) Street \(number)"
        stop[Stop.fareKey] = number % 9
        stop[Stop.eastKey] = Double(number * 37 % 1000)
        stop[Stop.northKey] = Double(number * 91 % 1000)
        return stop
    }
    for number in 0..<20 {
        let line = Line(context: context)
        line[Line.nameKey] = "Line \(number)"
        for start in 0..<30 {
            let journey = Journey(context: context)
            journey[Journey.numberKey] = number * 100 + start
            journey[Journey.lineKey] = line
            for place in 0..<12 {
                let call = Call(context: context)
                call[Call.minuteKey] = 300 + start * 30 + place * 3
                call[Call.journeyKey] = journey
                call[Call.stopKey] = stops[(number * 7 + place) % 150]
            }
        }
    }
    try context.save()
}
