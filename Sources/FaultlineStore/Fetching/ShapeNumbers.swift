import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// The dictionary numbers of shapes in the trace, cached to encode each shape as JSON only once.
final class ShapeNumbers: Sendable {
    /// The maximum number of cached shapes; a program that builds predicates dynamically can create any number.
    static let capacity = 1024

    private let known = Mutex<[ShapeEntry: DictionaryID]>([:])

    /// Returns the number of a shape; 0 if it cannot be recorded.
    func number(of shape: ShapeEntry, in recorder: Recorder) -> DictionaryID {
        if let number = known.withLock({ $0[shape] }) { return number }
        let number = recorder.intern(.shape(shape))
        guard number != 0 else { return 0 }
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[shape] = number
        }
        return number
    }
}
