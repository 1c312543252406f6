import FaultlineModel
import FaultlineRecorder
import FaultlineStore
package import FaultlineTrace
import Foundation

/// Measures the cost of store operations on this machine, for predictions that a trace alone cannot support.
package enum Calibration {
    /// The entities, which are fetched in alternation so that rows of the other are the last in memory.
    private static let entities = ["One", "Other"]
    /// The numbers of rows of the fetches.
    ///
    /// The largest is the number of rows of each entity.
    ///
    /// The number of sizes is odd, so each size alternates between the entities.
    private static let sizes = [1, 4, 16, 64, 256]
    /// The number of fetches of each size, and of earlier fetches that prepare statements and read pages.
    private static let rounds = 10
    private static let firstRounds = 2

    /// Measures the costs, which takes about 60 ms.
    ///
    /// Trips are fetches of five sizes, of rows with four small attributes. All files are in the temporary directory
    /// and are removed afterward.
    ///
    /// - Throws: ``ReplayError`` if the directory cannot be used, or the store's error if there is no space in it.
    package static func measure() throws -> CalibrationEntry {
        let folder = try ScratchFolder()
        let model = try ManagedObjectModel(entities: entities.map { EntityDescription($0, attributes: attributes) })
        try fill(try open(folder.storeURL, model, .off()))
        let recorder = Recorder.memory()
        try read(try open(folder.storeURL, model, recorder))
        let trips = recorder.events().compactMap(trip)
        // Without space for the steps, the trips are still useful.
        let steps = (try? StepCalibration(folder).steps) ?? [:]
        return CalibrationEntry(trips: Array(trips.dropFirst(firstRounds * sizes.count)), steps: steps)
    }

    /// Attributes with small values, as most rows have them.
    static let attributes = [
        AttributeDescription("name", .string), AttributeDescription("date", .date),
        AttributeDescription("amount", .double), AttributeDescription("number", .integer64),
    ]

    /// Opens a store.
    ///
    /// - Parameter cachesRows: Whether the row cache keeps rows. Without it, every fetch creates new rows.
    static func open(
        _ url: URL, _ model: ManagedObjectModel, _ recorder: Recorder, cachesRows: Bool = false
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: url)
        if !cachesRows { description.rowCacheLimit = 0 }
        return try PersistentContainer(
            name: "Calibration", managedObjectModel: model, storeDescription: description, recorder: recorder,
            sqlDebug: SQLDebugLog(level: 0))
    }

    /// Sets a row's values of ``attributes``.
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
            for position in 0..<(firstRounds + rounds) * sizes.count {
                let request = FetchRequest<ManagedObject>(
                    entityName: entities[position % entities.count], fetchLimit: sizes[position % sizes.count])
                _ = try context.fetch(request)
            }
        }
    }

    /// The size and the duration of a trip, or `nil` for other events.
    private static func trip(_ event: TraceEvent) -> CalibrationEntry.Trip? {
        guard case .fetch(let fetch) = event.detail else { return nil }
        return CalibrationEntry.Trip(rows: UInt64(fetch.rows), bytes: fetch.bytes, duration: event.duration)
    }
}
