internal import CRecorder
internal import Foundation

/// A variable of the environment by which whoever starts a program has it recorded.
package enum RecordingVariable: String, Sendable, CaseIterable {
    case trace = "FAULTLINE_TRACE"
    case origin = "FAULTLINE_ORIGIN"
    case rings = "FAULTLINE_RINGS"
    case ringBytes = "FAULTLINE_RING_BYTES"
    case tried = "FAULTLINE_TRY"
    case values = "FAULTLINE_VALUES"

    /// All variables of the environment; none in a program that runs with another user's rights.
    package static var environment: [String: String] {
        fl_environment_is_trusted() ? ProcessInfo.processInfo.environment : [:]
    }

    /// Its value; `nil` if it is not set or empty, and in a program that runs with another user's rights (set-uid): who
    /// started that must not say which files it writes (`secure_getenv(3)`).
    package var value: String? {
        guard let text = fl_environment(rawValue), text.pointee != 0 else { return nil }
        return String(cString: text)
    }
}
