import FaultlineModel
import FaultlineStore
import Foundation

final class Exercise: ManagedObject {
    static let startKey = AttributeKey<Date>("start")
    static let sportKey = AttributeKey<String>("sport")
    static let minutesKey = AttributeKey<Double>("minutes")
    static let energyKey = AttributeKey<Double>("energy")
    static let trackKey = AttributeKey<Data?>("track")
    static let pulsesKey = ToManyKey<Pulse>("pulses")
    var start: Date { self[Self.startKey] }
    var sport: String { self[Self.sportKey] }
    var minutes: Double { self[Self.minutesKey] }
    var energy: Double { self[Self.energyKey] }
    var pulses: ToMany<Pulse> { self[Self.pulsesKey] }
}

final class Pulse: ManagedObject {
    static let timeKey = AttributeKey<Date>("time")
    static let rateKey = AttributeKey<Double>("rate")
    static let exerciseKey = ToOneKey<Exercise>("exercise")
    var time: Date { self[Self.timeKey] }
    var rate: Double { self[Self.rateKey] }
}

final class Goal: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    var title: String { self[Self.titleKey] }
}

/// - Parameter isIndexed: Whether exercises and pulses can be found by time.
func makeModel(isIndexed: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Exercise",
            attributes: [
                AttributeDescription("start", .date, isOptional: false),
                AttributeDescription("sport", .string, isOptional: false),
                AttributeDescription("minutes", .double, isOptional: false),
                AttributeDescription("energy", .double, isOptional: false),
                AttributeDescription("track", .binary),
            ],
            relationships: [
                RelationshipDescription(
                    "pulses", to: "Pulse", inverse: "exercise", isToMany: true, deleteRule: .cascade)
            ],
            indexes: [FetchIndexDescription("byStart", on: "start")]),
        EntityDescription(
            "Pulse",
            attributes: [
                AttributeDescription("time", .date, isOptional: false),
                AttributeDescription("rate", .double, isOptional: false),
            ],
            relationships: [RelationshipDescription("exercise", to: "Exercise", inverse: "pulses")],
            indexes: isIndexed
                ? [FetchIndexDescription("byTime", on: "time"), FetchIndexDescription("byRate", on: "rate")] : []),
        EntityDescription("Goal", attributes: [AttributeDescription("title", .string, isOptional: false)]),
    ])
}

/// The beginning of a day.
func day(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(number) * 86_400) }

/// An exercise for each day of a year, with a track of twenty kilobytes and forty pulses, and a few goals.
func fill(_ context: ManagedObjectContext) throws {
    for number in 0..<364 {
        let exercise = Exercise(context: context)
        exercise[Exercise.startKey] = day(number).addingTimeInterval(7 * 3600)
        exercise[Exercise.sportKey] = ["rowing", "skating", "climbing"][number % 3]
        exercise[Exercise.minutesKey] = 20 + Double(number * 11 % 70)
        exercise[Exercise.energyKey] = 900 + Double(number * 13 % 600)
        exercise[Exercise.trackKey] = Data(repeating: UInt8(number % 251), count: 20_000)
        for place in 0..<40 {
            let pulse = Pulse(context: context)
            pulse[Pulse.timeKey] = exercise.start.addingTimeInterval(Double(place) * 15)
            pulse[Pulse.rateKey] = 70 + Double((number * 40 + place) * 29 % 120)
            pulse[Pulse.exerciseKey] = exercise
        }
    }
    for number in 0..<30 { Goal(context: context)[Goal.titleKey] = "Goal \(number)" }
    try context.save()
}
