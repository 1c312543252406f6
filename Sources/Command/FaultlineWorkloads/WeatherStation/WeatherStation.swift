internal import FaultlineMigration
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
package import Foundation

/// A year of readings of weather stations, whose store gets a newer version of its model.
///
/// In the newer version, `value` is called `celsius`, readings have a quality, the remark is gone, and there are alarms.
package struct WeatherStation {
    /// The method of the migration.
    package enum Way: String, Sendable, CaseIterable {
        /// By its container, in SQL, inferred from names and renaming identifiers.
        case inferred
        /// By a migration manager with a mapping model that only copies.
        case mapping
        /// By its container, with a mapping model and a policy that computes the quality.
        case policy
    }

    static let stations = 12

    /// Creates a store of the older version with a year of readings, replacing an existing one.
    ///
    /// This is not recorded. The same number gives the same readings each time.
    package static func prepare(readings: Int, at url: URL) throws {
        try StoreFiles.remove(at: url)
        let container = try PersistentContainer(
            name: "Weather", managedObjectModel: try WeatherModel.old(), storeDescription: description(url),
            recorder: .off())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            var keys = (0..<stations).map { number in
                let station = context.insertNewObject(forEntityName: "Station")
                station["name"] = "Station \(number + 1)"
                return station
            }.map(\.objectID)
            try context.save()
            for first in stride(from: 0, to: readings, by: 2000) {
                if first == 0 { keys = try context.fetchObjectIDs(FetchRequest<ManagedObject>(entityName: "Station")) }
                for index in first..<min(first + 2000, readings) {
                    let reading = context.insertNewObject(forEntityName: "Reading")
                    // The readings are spread over a year.
                    reading["time"] = Date(
                        timeIntervalSinceReferenceDate: Double(index) * 31_536_000 / Double(readings))
                    reading["value"] = Double((index * 37) % 450) / 10 - 10
                    reading["remark"] = "checked by hand"
                    reading["station"] = context.object(with: keys[index % keys.count])
                }
                try context.save()
                context.reset()
            }
        }
        try container.close()
    }

    /// Migrates the store and opens it.
    ///
    /// - Returns: The contents of the migrated store, without the values that only the policy computes.
    package static func migrate(_ way: Way, at url: URL) throws -> String {
        let (old, new) = (try WeatherModel.old(), try WeatherModel.new())
        var description = description(url)
        description.shouldMigrateStoreAutomatically = true
        switch way {
        case .inferred: break
        case .mapping:
            // As programs do it that manage their migrations themselves.
            let target = url.deletingPathExtension().appendingPathExtension("new.sqlite")
            try StoreFiles.remove(at: target)
            try MigrationManager(sourceModel: old, destinationModel: new)
                .migrateStore(from: url, mapping: WeatherModel.mapping(policy: nil), to: target)
            try StoreFiles.remove(at: url)
            try FileManager.default.moveItem(at: target, to: url)
        case .policy:
            description.mappingModels = [WeatherModel.mapping(policy: "QualityPolicy")]
            description.migrationPolicies = [QualityPolicy.self]
        }
        let container = try PersistentContainer(
            name: "Weather", managedObjectModel: new, storeDescription: description)
        let shown = try Recorder.shared.scope("what it holds", kind: .setup) { try contents(container) }
        try container.close()
        return shown
    }

    private static func description(_ url: URL) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(sampleAt: url)
        // How fast the disk is does not belong to the comparison.
        description.synchronization = .off
        return description
    }

    private static func contents(_ container: PersistentContainer) throws -> String {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var request = FetchRequest<ManagedObject>(entityName: "Reading")
            let count = try context.count(for: request)
            request.sortDescriptors = [FetchSortDescriptor("time")]
            request.fetchLimit = 100
            var sum: UInt64 = 0
            for reading in try context.fetch(request) {
                sum.add("\(reading.objectID.uriRepresentation().lastPathComponent) \(reading["celsius"] ?? "-")")
                sum.add((reading["station"] as? ManagedObject)?["name"] as? String ?? "-")
            }
            let stations = try context.count(for: FetchRequest<ManagedObject>(entityName: "Station"))
            return "\(count) readings of \(stations) stations, checksum \(String(sum, radix: 16))"
        }
    }
}

/// Marks readings that a thermometer cannot have measured.
final class QualityPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let value = source["value"] as? Double ?? 0
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
        for reading in made { reading["quality"] = value > 34 ? 1 : 2 }
    }
}
