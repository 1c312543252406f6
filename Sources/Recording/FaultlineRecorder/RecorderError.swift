internal import Foundation

/// An error that prevents a recording or leaves it incomplete.
public struct RecorderError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    public struct Code: Sendable, Hashable {
        private enum Value { case cannotWrite, noSpace, incomplete, badDestination, tooLate }
        private let value: Value

        /// The trace's file cannot be created or written.
        public static let cannotWrite = Code(value: .cannotWrite)
        /// There is no room for the rings.
        public static let noSpace = Code(value: .noSpace)
        /// The trace lacks lines that could not be written.
        public static let incomplete = Code(value: .incomplete)
        /// The destination is unknown.
        public static let badDestination = Code(value: .badDestination)
        /// The recording that the program belongs to has ended.
        public static let tooLate = Code(value: .tooLate)
    }

    /// The kind of error.
    public let code: Code
    /// One sentence that says what failed, on what, why, and what to do about it.
    public let message: String

    /// The message.
    public var description: String { message }

    static func cannotWrite(_ path: String, errno code: Int32) -> RecorderError {
        RecorderError(
            code: .cannotWrite,
            message: "The trace \"\(path)\" cannot be written (\(reason(code))); "
                + "name a file in an existing directory that this user may write to.")
    }

    static func isNoFile(_ path: String) -> RecorderError {
        RecorderError(
            code: .cannotWrite,
            message: "The trace \"\(path)\" cannot be written (not a regular file); name another file.")
    }

    /// The error from opening a timeline, by the `errno` that it left.
    static func cannotOpen(_ path: String, errno code: Int32) -> RecorderError {
        switch code {
        case ENOTSUP: .isNoFile(path)
        case EEXIST: .isTaken(path)
        default: .cannotWrite(path, errno: code)
        }
    }

    static func isBeingWritten(_ path: String) -> RecorderError {
        RecorderError(
            code: .cannotWrite,
            message: "The trace \"\(path)\" is being written by another process; name another file with -o.")
    }

    static func isTaken(_ path: String) -> RecorderError {
        RecorderError(
            code: .cannotWrite,
            message: "The trace \"\(path)\" cannot be written (the file is not empty); name another file.")
    }

    static func badRings(_ path: String, errno code: Int32) -> RecorderError {
        let reason =
            switch code {
            case EINVAL, EPROTO: "it is not a ring file of this version of Faultline"
            case EPERM: "it belongs to another user"
            default: reason(code)
            }
        return RecorderError(
            code: .incomplete,
            message: "The rings \"\(path)\" cannot be read (\(reason)); \"faultline recover\" lists those that can.")
    }

    static func noSpace(_ directory: String, errno code: Int32) -> RecorderError {
        RecorderError(
            code: .noSpace,
            message: "There is no space for a recording in \"\(directory)\" (\(reason(code))); "
                + "free some space there, or name another directory in FAULTLINE_RINGS.")
    }

    static let tooLate = RecorderError(
        code: .tooLate,
        message: "The recording that this program was started in has ended, so this program is not recorded; "
            + "record a command that does not end before it.")

    static func noMemory(errno code: Int32) -> RecorderError {
        RecorderError(
            code: .noSpace,
            message:
                "There is not enough memory for a recording (\(reason(code))); close other programs and start this one again."
        )
    }

    static func incomplete(_ path: String, lines: UInt64, errno code: Int32) -> RecorderError {
        RecorderError(
            code: .incomplete,
            message:
                "The trace \"\(path)\" lacks \(grouped(lines)) lines that could not be written (\(reason(code))); "
                + (code == EBADMSG ? "record again." : "free some space and record again."))
    }

    /// No shorter file can take the trace's place.
    static func cannotShorten(_ path: String, errno code: Int32) -> RecorderError {
        let reason =
            switch code {
            case EMLINK: "it has several hard links"
            case EBUSY: "it is a mount point"
            default: reason(code)
            }
        return RecorderError(
            code: .cannotWrite,
            message: "The trace \"\(path)\" cannot have a maximum size, because no shorter file can take its place "
                + "(\(reason)); name another file with -o.")
    }

    /// The oldest events could not be removed.
    static func tooLong(_ path: String, errno code: Int32) -> RecorderError {
        let isMoved = code == ESTALE || code == ENOENT
        return RecorderError(
            code: .incomplete,
            message: "The trace \"\(path)\" is longer than its maximum size, because "
                + (isMoved
                    ? "it was moved during the recording; leave it where it is until the recording ends."
                    : "a shorter file could not be written beside it (\(reason(code))); free some space, or name a "
                        + "directory that this user may write to."))
    }

    /// The end of the trace is still in the rings.
    static func unfinished(_ path: String) -> RecorderError {
        RecorderError(
            code: .incomplete,
            message: "The end of the trace \"\(path)\" could not be written because the program had reached "
                + "its limit of open files; \"faultline report\" completes the trace.")
    }

    /// Processes could not create their rings.
    static func refused(_ refusals: RingDirectory.Refusals, in directory: String) -> RecorderError {
        let isOne = refusals.count == 1
        let (it, its, itself) = isOne ? ("it", "its", "it becomes") : ("they", "their", "they become")
        let remedy =
            switch refusals.failure {
            case ENOSPC, ENOMEM: "; free some space and record again"
            case EACCES, EPERM:
                ", because \(it) had given up \(its) rights; record \(isOne ? "it" : "them") as the user that \(itself)"
            case EMFILE, ENFILE: "; raise the limit of open files (ulimit -n)"
            case EFBIG: "; raise the limit of the size of files (ulimit -f)"
            case ENOENT:
                ", which \(it) cannot reach from the root directory that \(it) \(isOne ? "has" : "have") changed to; record "
                    + "without chroot"
            default: ""
            }
        return RecorderError(
            code: .noSpace,
            message: "\(processes(refusals.count)) could not be recorded: cannot create buffers in \"\(directory)\" "
                + "(\(reason(refusals.failure)))\(remedy).")
    }

    /// Events of threads that could not get a buffer were lost.
    ///
    /// - Parameters:
    ///   - failure: The reason why there was no buffer, as in "Permission denied"; empty if it is not known.
    package static func withoutBuffer(_ count: UInt64, failure: String) -> String {
        let events = count == 1 ? "1 event was" : "\(grouped(count)) events were"
        return "\(events) lost because their threads could not get a buffer" + (failure.isEmpty ? "" : " (\(failure))")
            + "."
    }

    static func closedRings(_ count: Int, in directory: String, errno code: Int32) -> RecorderError {
        RecorderError(
            code: .incomplete,
            message: "\(processes(count)) could not be recorded because the files in \"\(directory)\" cannot be read "
                + "(\(reason(code))); record again as the user that the program runs as.")
    }

    /// A number with thousands separators, as in reports.
    private static func grouped(_ number: UInt64) -> String {
        let digits = Array(String(number))
        return digits.indices.map { position in
            (position > 0 && (digits.count - position) % 3 == 0 ? "," : "") + String(digits[position])
        }.joined()
    }

    private static func processes(_ count: Int) -> String {
        count == 1 ? "1 process" : "\(count) processes"
    }

    static func badDestination(_ text: String) -> RecorderError {
        RecorderError(
            code: .badDestination,
            message: "FAULTLINE_TRACE=\"\(text)\" is not a destination; "
                + "write FAULTLINE_TRACE=timeline:PATH, lttng, or both separated by a comma.")
    }

    /// - Parameter problem: The reason why its library cannot be loaded, as a C string; empty if the package was built
    ///   without it.
    static func withoutLTTng(_ problem: [CChar]) -> RecorderError {
        let reason = String(decoding: problem.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard reason.isEmpty else {
            return RecorderError(
                code: .badDestination,
                message:
                    "LTTng's library cannot be loaded (\(reason)); run \"faultline doctor\" to diagnose it.")
        }
        return RecorderError(
            code: .badDestination,
            message: "This program was built without LTTng and cannot record to it; "
                + "build it with the trait LTTng of the package Faultline, which is on by default.")
    }

    static let twoFiles = RecorderError(
        code: .badDestination,
        message: "A recording is written to at most one file; name one file, and optionally LTTng.")

    /// The cause of an error, by the `errno` that it left.
    static func reason(_ code: Int32) -> String {
        switch code {
        case 0: "the cause is unknown"
        case EBADMSG: "names in the ring buffers are damaged or too long"
        default: String(cString: strerror(code))
        }
    }
}
