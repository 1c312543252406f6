import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// The numbers of predicates' values in the trace's dictionary, where somebody wants them in the trace.
///
/// Values are private: without `FAULTLINE_VALUES`, which `faultline record --values` sets, none leaves the program.
final class ValueNumbers: Sendable {
    /// Whether values are to be in the trace.
    static let areWanted = RecordingVariable.values.value != nil

    /// Sets of values that are told, since the dictionary has room for other things too, and the bytes of one.
    static let capacity = 4096
    static let longest = 4096

    private let known = Mutex<[String: DictionaryID]>([:])

    /// The number of a predicate's values; 0: they are not told.
    func number(of predicate: FetchPredicate?, in recorder: Recorder) -> DictionaryID {
        guard let values = predicate?.values, !values.isEmpty, let text = PredicateValue.text(values),
            text.utf8.count <= Self.longest
        else { return 0 }
        return known.withLock { known in
            if let number = known[text] { return number }
            guard known.count < Self.capacity else { return 0 }
            let number = recorder.intern(.name(NameEntry(name: text)))
            known[text] = number
            return number
        }
    }
}
