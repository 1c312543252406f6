import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// The numbers of shapes in the trace's dictionary, so that each shape is turned into JSON once.
final class ShapeNumbers: Sendable {
    /// Shapes that are remembered; a program that puts predicates together can have any number of them.
    static let capacity = 1024

    private let known = Mutex<[ShapeEntry: DictionaryID]>([:])

    /// The number of a shape; 0 if it cannot be recorded.
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
