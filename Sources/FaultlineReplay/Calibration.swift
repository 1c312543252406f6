import FaultlineModel
import FaultlineRecorder
import FaultlineStore
public import FaultlineTrace
import Foundation

/// Measures the cost of store operations on this machine, for predictions that a trace alone cannot support.
public enum Calibration {
    /// Fetched by turns: the rows that were read last are kept in memory.
    private static let entities = ["One", "Other"]
    /// Rows of the fetches, the most of which is what each entity has.
    ///
    /// An odd number of sizes, so that each comes by turns for one entity and the other.
    private static let sizes = [1, 4, 16, 64, 256]
    /// How often there is a fetch of each size, and before that so that statements are prepared and pages read.
    private static let rounds = 10
    private static let firstRounds = 2

    /// Measures it, in some sixty milliseconds.
    ///
    /// Trips are fetches of five sizes, of rows with four small attributes. All files lie in the temporary directory and are
    /// gone afterwards.
    ///
    /// - Throws: ``ReplayError`` if the directory cannot be had, or what the store throws if there is no room in it.
    public static func measure() throws -> CalibrationEntry {
        let folder = try ScratchFolder()
        let model = try ManagedObjectModel(entities: entities.map { EntityDescription($0, attributes: attributes) })
        try fill(try open(folder.storeURL, model, .off()))
        let recorder = Recorder.memory()
        try read(try open(folder.storeURL, model, recorder))
        let trips = recorder.events().compactMap(trip)
        // Where there is no room for the steps, the trips are worth having.
        let steps = (try? StepCalibration(folder).steps) ?? [:]
        return CalibrationEntry(trips: Array(trips.dropFirst(firstRounds * sizes.count)), steps: steps)
    }

    /// Small values, as most rows have them.
    static let attributes = [
        AttributeDescription("name", .string), AttributeDescription("date", .date),
        AttributeDescription("amount", .double), AttributeDescription("number", .integer64),
    ]

    /// Opens a store.
    ///
    /// - Parameter cachesRows: Whether the row cache keeps rows. Without it, every fetch creates its rows anew.
    static func open(
        _ url: URL, _ model: ManagedObjectModel, _ recorder: Recorder, cachesRows: Bool = false
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: url)
        if !cachesRows { description.rowCacheLimit = 0 }
        return try PersistentContainer(
            name: "Calibration", managedObjectModel: model, storeDescription: description, recorder: recorder,
            sqlDebug: SQLDebugLog(level: 0))
    }

    /// Gives a row values of ``attributes``.
    static func fill(_ row: ManagedObject, _ number: Int) {
        row.setValue("A name of some length, \(number)", forKey: "name")
        row.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
        row.setValue(Double(number) / 3, forKey: "amount")
        row.setValue(number, forKey: "number")
    }

    private static func fill(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<entities.count * (sizes.max() ?? 0) {
                fill(context.insertNewObject(forEntityName: entities[number % entities.count]), number)
            }
            try context.save()
        }
    }

    private static func read(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for place in 0..<(firstRounds + rounds) * sizes.count {
                let request = FetchRequest<ManagedObject>(
                    entityName: entities[place % entities.count], fetchLimit: sizes[place % sizes.count])
                _ = try context.fetch(request)
            }
        }
    }

    /// What a trip was for and how long it took; `nil`: the event is none.
    private static func trip(_ event: TraceEvent) -> CalibrationEntry.Trip? {
        guard case .fetch(let fetch) = event.detail else { return nil }
        return CalibrationEntry.Trip(rows: UInt64(fetch.rows), bytes: fetch.bytes, duration: event.duration)
    }
}
