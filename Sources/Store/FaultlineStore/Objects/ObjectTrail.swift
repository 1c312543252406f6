import FaultlineRecorder
import FaultlineTrace

/// The path by which an object was reached, for the trace.
struct ObjectTrail {
    /// The use summary of the last fetch that returned the object, and the object's row in it.
    let use: FetchUse?
    /// The summary in memory.
    let slot: OpaquePointer?
    let row: Int32
    /// The relationship through which the object was reached, and its entity's index; -1 if none.
    var relationship: Int16 = -1
    var relationshipEntity: Int16 = -1
    /// The fetch that returned the object, or the fetch of the object from which it was reached.
    var origin: EventID
    /// The properties read since the fetch returned the object; the first 64 only, later ones are recorded on every
    /// read.
    var readProperties: UInt64 = 0
    /// The row columns of these properties.
    var readSlots: UInt64 = 0

    init(use: FetchUse? = nil, row: Int32 = 0, origin: EventID = 0) {
        (self.use, self.row, self.origin) = (use, row, origin)
        slot = use?.slot
    }
}
