import FaultlineRecorder
import FaultlineTrace

/// How an object came to be here, for the trace.
struct ObjectTrail {
    /// The summary of the fetch that returned the object last, and the row there.
    var use: FetchUse?
    var row: Int32 = 0
    /// The relationship through which the object was reached and its entity's place, or -1.
    var relationship: Int16 = -1
    var relationshipEntity: Int16 = -1
    /// The fetch that produced the object, or the object from which it was reached.
    var origin: EventID = 0
    /// Which properties were read already since the fetch returned the object; those from 64 on count every time.
    var readProperties: UInt64 = 0
    /// The columns of these.
    var readSlots: UInt64 = 0
}
