import FaultlineModel
import FaultlineRecorder
import FaultlineStore
public import FaultlineTrace
import Foundation

/// Measures what trips to a store cost on this machine, for traces that have too few of their own.
public enum Calibration {
    /// Fetched by turns: the rows that were read last are kept in memory.
    private static let entities = ["One", "Other"]
    /// Rows of the fetches, the most of which is what each entity has.
    private static let sizes = [4, 16, 64, 256]
    /// How often there is a fetch of each size, and how many faults fire each time.
    private static let rounds = 8
    private static let faults = 2

    /// Measures it, in some thirty milliseconds.
    ///
    /// In a store of rows with four small attributes, which lies in the temporary directory and is gone afterwards: faults
    /// that fire one by one, and fetches of four sizes.
    ///
    /// - Throws: ``ReplayError`` if the directory cannot be had, or what the store throws if there is no room in it.
    public static func measure() throws -> CalibrationEntry {
        let folder = try ScratchFolder()
        let model = try ManagedObjectModel(
            entities: entities.map { name in
                EntityDescription(
                    name,
                    attributes: [
                        AttributeDescription("name", .string), AttributeDescription("date", .date),
                        AttributeDescription("amount", .double), AttributeDescription("number", .integer64),
                    ])
            })
        try fill(try open(folder, model, .off()))
        let recorder = Recorder.memory()
        try read(try open(folder, model, recorder))
        return CalibrationEntry(trips: recorder.events().compactMap(trip))
    }

    private static func open(
        _ folder: ScratchFolder, _ model: ManagedObjectModel, _ recorder: Recorder
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: folder.storeURL)
        // What was read once is to be read again.
        description.rowCacheLimit = 0
        return try PersistentContainer(
            name: "Calibration", managedObjectModel: model, storeDescription: description, recorder: recorder,
            sqlDebug: SQLDebugLog(level: 0))
    }

    private static func fill(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<entities.count * (sizes.max() ?? 0) {
                let entity = entities[number % entities.count]
                let row = context.insertNewObject(forEntityName: entity)
                row.setValue("A name of some length, \(number)", forKey: "name")
                row.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
                row.setValue(Double(number) / 3, forKey: "amount")
                row.setValue(number, forKey: "number")
            }
            try context.save()
        }
    }

    private static func read(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let identities = try context.fetchObjectIDs(FetchRequest<ManagedObject>(entityName: entities[0]))
            for round in 0..<rounds {
                for (place, size) in sizes.enumerated() {
                    let entity = entities[place % entities.count]
                    _ = try context.fetch(FetchRequest<ManagedObject>(entityName: entity, fetchLimit: size))
                }
                for place in 0..<faults {
                    // Those at the end, which the next fetch does not bring.
                    let identity = identities[identities.count - 1 - round * faults - place]
                    _ = context.object(with: identity).value(forKey: "number")
                }
            }
        }
    }

    /// What a trip was for and how long it took; `nil`: none for whole rows.
    private static func trip(_ event: TraceEvent) -> CalibrationEntry.Trip? {
        switch event.detail {
        case .fetch(let fetch) where fetch.resultType == .objects && fetch.cacheHits == 0:
            .init(rows: UInt64(fetch.rows), bytes: fetch.bytes, duration: event.duration)
        case .fault(let fault) where fault.source == .store:
            .init(rows: UInt64(fault.filled), bytes: fault.bytes, duration: event.duration)
        default: nil
        }
    }
}
