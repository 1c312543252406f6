import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// The dictionary numbers of predicates' values in the trace, if the user wants values recorded.
///
/// Values are private: they leave the program only if `FAULTLINE_VALUES` is set, as `faultline record --values` does.
final class ValueNumbers: Sendable {
    /// Whether the trace should contain values.
    static let areWanted = RecordingVariable.values.value != nil

    /// Limits that leave room in the dictionary for other entries: the number of value sets, and the bytes of each.
    static let capacity = 4096
    static let longest = 4096

    private let known = Mutex<[String: DictionaryID]>([:])

    /// Returns the number of a predicate's values; 0 if they are not recorded.
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
