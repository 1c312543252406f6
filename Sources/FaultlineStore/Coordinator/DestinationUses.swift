import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// What of the objects that an entity's to-one relationships lead to the trace knows to be in use.
final class DestinationUses: Sendable {
    private struct Use: Hashable {
        let relationship: Int
        /// The entity of the object at the other end, which can inherit from the relationship's.
        let entity: Int
        /// The property that was read; `nil`: the object was changed or deleted.
        let property: Int?
    }

    private let told = Mutex<Set<Use>>([])

    /// Tells the trace of a use that it does not know yet.
    ///
    /// Only while recording.
    ///
    /// - Parameter property: One that was read; `nil`: the object was changed or deleted.
    /// - Complexity: O(1); a use that is known takes a look-up.
    func note(
        _ relationship: Int, of owner: EntitySchema, in destination: EntitySchema, property: Int?, _ recorder: Recorder
    ) {
        let use = Use(relationship: relationship, entity: destination.index, property: property)
        told.withLock { told in
            guard !told.contains(use) else { return }
            let entry = DestinationUseEntry(
                entity: owner.name, relationship: owner.properties[relationship].name,
                property: property.map { destination.properties[$0].name })
            // There may be no room for it.
            if recorder.intern(.destinationUse(entry)) != 0 { told.insert(use) }
        }
    }
}
