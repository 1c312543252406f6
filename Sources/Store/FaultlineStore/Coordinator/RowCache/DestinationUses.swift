import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// Records in the trace how the program uses the destinations of an entity's to-one relationships.
final class DestinationUses: Sendable {
    /// A use of a destination object.
    enum Use {
        /// A property is read, for the first time since the object was reached.
        case read(Int)
        /// The object is changed, or its use is ambiguous because it was reached in another way too.
        case other
    }

    /// Recorded uses for each to-one relationship and destination entity: one bit for each property, and the highest
    /// bit for all other uses.
    // Allocated once, freed by `deinit`, accessed atomically.
    nonisolated(unsafe) private let recorded: UnsafeMutablePointer<Atomic<UInt64>>
    /// By property: the index of the first mask of a to-one relationship; -1 for other properties.
    private let positions: [Int]
    private let count: Int
    private let other = 63

    init(_ schema: EntitySchema, _ model: ModelSchema) {
        var (positions, count) = ([Int](), 0)
        for property in schema.properties {
            let isToOne = property.isRelationship && !property.isToMany
            positions.append(isToOne ? count : -1)
            if isToOne { count += model.entities[property.destination].family.count }
        }
        (self.positions, self.count) = (positions, count)
        recorded = .allocate(capacity: max(1, count))
        for position in 0..<count { (recorded + position).initialize(to: Atomic(0)) }
    }

    deinit {
        recorded.deinitialize(count: count)
        recorded.deallocate()
    }

    /// Records a use in the trace, unless it is already recorded.
    ///
    /// Called only while recording.
    ///
    /// - Complexity: O(1) for a use that is already recorded: one relaxed load, no lock.
    func note(
        _ relationship: Int, of owner: EntityRuntime, in destination: EntitySchema, _ use: Use, _ recorder: Recorder
    ) {
        let property = owner.schema.properties[relationship]
        let family = owner.model.entities[property.destination].family
        guard positions[relationship] >= 0, let entity = family.firstIndex(of: destination.index) else { return }
        var known: Int?
        // Properties beyond the number of bits are recorded as other uses.
        if case .read(let index) = use, index < other { known = index }
        let bit: UInt64 = 1 << UInt64(known ?? other)
        let mask = recorded + positions[relationship] + entity
        guard mask.pointee.load(ordering: .relaxed) & bit == 0,
            mask.pointee.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0
        else { return }
        // If the dictionary is full, the trace records that a name is missing.
        _ = recorder.intern(
            .destinationUse(
                DestinationUseEntry(
                    entity: owner.schema.name, relationship: property.name,
                    property: known.map { destination.properties[$0].name })))
    }
}
