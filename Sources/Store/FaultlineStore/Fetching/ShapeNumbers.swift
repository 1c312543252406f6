import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// The dictionary numbers of shapes in the trace, cached to describe each shape only once.
final class ShapeNumbers: Sendable {
    /// The maximum number of cached shapes; a program that builds predicates dynamically can create any number.
    static let capacity = 1024

    /// The properties of a request that determine its shape.
    ///
    /// Requests with the same statement have the same predicate and order, except for the way in which they are written.
    struct Key: Hashable {
        var sql: String
        var entity: Int
        var resultType: TraceEvent.Fetch.ResultType
        var prefetch: [String]
        /// The expressions of a dictionary or of a partial object.
        var expressions: [String]?
        var includesPropertyValues: Bool
        var isLimited: Bool
    }

    private let known = Mutex<[Key: DictionaryID]>([:])

    /// Returns the number of a shape; 0 if it cannot be recorded.
    ///
    /// - Parameter describe: Returns the shape of a request with that key.
    func number(for key: Key, in recorder: Recorder, _ describe: () -> ShapeEntry) -> DictionaryID {
        if let number = known.withLock({ $0[key] }) { return number }
        let number = recorder.intern(.shape(describe()))
        guard number != 0 else { return 0 }
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[key] = number
        }
        return number
    }
}
