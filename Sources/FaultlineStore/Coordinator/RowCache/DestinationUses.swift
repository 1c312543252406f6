import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// What the trace knows of how the objects are used that an entity's to-one relationships lead to.
final class DestinationUses: Sendable {
    /// What is done with such an object.
    enum Use {
        /// A property is read, the first time since the object came.
        case read(Int)
        /// It is changed, or what is done with it cannot be told: it came in another way as well.
        case other
    }

    /// For each to-one relationship and each entity of those that it can lead to: a bit for each property that was told,
    /// and the highest one for all else.
    // Allocated once and freed at the end; who reads and writes it does so atomically.
    nonisolated(unsafe) private let told: UnsafeMutablePointer<Atomic<UInt64>>
    /// The place of a relationship's first one, by property; -1: it is no such relationship.
    private let places: [Int]
    private let count: Int
    private let other = 63

    init(_ schema: EntitySchema, _ model: ModelSchema) {
        var (places, count) = ([Int](), 0)
        for property in schema.properties {
            let isToOne = property.isRelationship && !property.isToMany
            places.append(isToOne ? count : -1)
            if isToOne { count += model.entities[property.destination].family.count }
        }
        (self.places, self.count) = (places, count)
        told = .allocate(capacity: max(1, count))
        for place in 0..<count { (told + place).initialize(to: Atomic(0)) }
    }

    deinit {
        told.deinitialize(count: count)
        told.deallocate()
    }

    /// Tells the trace of a use that it does not know yet.
    ///
    /// Only while recording.
    ///
    /// - Complexity: O(1) for a use that is known: one relaxed load. No lock.
    func note(
        _ relationship: Int, of owner: EntityRuntime, in destination: EntitySchema, _ use: Use, _ recorder: Recorder
    ) {
        let property = owner.schema.properties[relationship]
        let family = owner.model.entities[property.destination].family
        guard places[relationship] >= 0, let entity = family.firstIndex(of: destination.index) else { return }
        var known: Int?
        // More properties than there are bits for are told as a use that is not known.
        if case .read(let index) = use, index < other { known = index }
        let bit: UInt64 = 1 << UInt64(known ?? other)
        let mask = told + places[relationship] + entity
        guard mask.pointee.load(ordering: .relaxed) & bit == 0,
            mask.pointee.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0
        else { return }
        // If there is no room for it, the trace says that a name is missing.
        _ = recorder.intern(
            .destinationUse(
                DestinationUseEntry(
                    entity: owner.schema.name, relationship: property.name,
                    property: known.map { destination.properties[$0].name })))
    }
}
