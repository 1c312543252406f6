internal import CRecorder
internal import Foundation

/// An environment variable that controls the recording of a program.
package enum RecordingVariable: String, Sendable, CaseIterable {
    case trace = "FAULTLINE_TRACE"
    case origin = "FAULTLINE_ORIGIN"
    case rings = "FAULTLINE_RINGS"
    case ringBytes = "FAULTLINE_RING_BYTES"
    case tried = "FAULTLINE_TRY"
    case values = "FAULTLINE_VALUES"
    case eachFault = "FAULTLINE_EACH_FAULT"
    case cpu = "FAULTLINE_CPU"
    case allocations = "FAULTLINE_ALLOCATIONS"

    /// All environment variables; none in a program that runs with another user's rights.
    package static var environment: [String: String] {
        fl_environment_is_trusted() ? ProcessInfo.processInfo.environment : [:]
    }

    /// The variable's value; `nil` if it is not set or empty.
    ///
    /// Also `nil` in a program that runs with another user's rights (set-uid): the user who starts it must not choose
    /// the files that it writes (`secure_getenv(3)`).
    package var value: String? {
        guard let text = fl_environment(rawValue), text.pointee != 0 else { return nil }
        return String(cString: text)
    }
}
