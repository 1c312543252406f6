import Foundation
import Glibc

/// An error from reading a trace or adding symbols to it.
///
/// A damaged line is not an error: the reader skips it and counts it in the ``ReadingSummary``.
public struct ReaderError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    package struct Code: Sendable, Hashable {
        private enum Value: Sendable, Hashable {
            case cannotOpen, cannotRead, empty, notATrace, foreignJSON, reformatted, newerVersion, nothingReadable
            case cannotAddSymbols, outOfMemory, damaged
        }

        private var value: Value

        /// The file is missing, unreadable, a directory, or not a regular file.
        package static let cannotOpen = Code(value: .cannotOpen)
        /// The file system reported an error while the trace was read.
        package static let cannotRead = Code(value: .cannotRead)
        /// The file is empty.
        package static let empty = Code(value: .empty)
        /// The file is in none of the supported formats.
        package static let notATrace = Code(value: .notATrace)
        /// The file is JSON that Faultline did not write.
        package static let foreignJSON = Code(value: .foreignJSON)
        /// The file is a timeline whose lines another program broke or joined.
        package static let reformatted = Code(value: .reformatted)
        /// The trace was written by a later version of Faultline.
        package static let newerVersion = Code(value: .newerVersion)
        /// The trace ends before its first complete line.
        package static let nothingReadable = Code(value: .nothingReadable)
        /// The resolved symbols could not be written; the trace is unchanged.
        package static let cannotAddSymbols = Code(value: .cannotAddSymbols)
        /// A CTF trace or its metadata is damaged, or an export of Instruments exceeds the limits of its parser.
        package static let damaged = Code(value: .damaged)
        /// There was not enough memory for the parser.
        package static let outOfMemory = Code(value: .outOfMemory)
    }

    package var code: Code
    /// One sentence that says what failed, on what, why, and what to do about it.
    public var message: String
    /// The system's error number; 0 if there is none.
    package var errorNumber: Int32

    /// The message.
    public var description: String { message }

    init(_ code: Code, _ message: String, errorNumber: Int32 = 0) {
        self.code = code
        self.message = message
        self.errorNumber = errorNumber
    }
}

extension ReaderError {
    private static func opening(_ path: String, _ reason: String, _ number: Int32 = 0) -> ReaderError {
        ReaderError(.cannotOpen, "Could not open the trace \"\(path)\": \(reason).", errorNumber: number)
    }

    private static func reading(_ path: String, _ code: Code, _ reason: String, _ number: Int32 = 0) -> ReaderError {
        ReaderError(code, "Could not read the trace \"\(path)\": \(reason).", errorNumber: number)
    }

    private static func systemMessage(_ number: Int32) -> String {
        String(cString: strerror(number))
    }

    static func cannotOpen(_ path: String, _ number: Int32) -> ReaderError {
        let reason =
            switch number {
            case ENOENT, ENOTDIR: "there is no such file; check the path"
            case EACCES, EPERM: "permission was denied; make the file readable"
            default: "\(systemMessage(number)); check the file system"
            }
        return opening(path, reason, number)
    }

    static func isDirectory(_ path: String) -> ReaderError {
        opening(path, "it is a directory; name the trace file in it", EISDIR)
    }

    static func isNotRegular(_ path: String) -> ReaderError {
        opening(path, "it is not a regular file, and a trace is read twice; save it to a file first")
    }

    static func cannotRead(_ path: String, line: Int, _ number: Int32) -> ReaderError {
        reading(
            path, .cannotRead, "reading failed after line \(line) (\(systemMessage(number))); check the file system",
            number)
    }

    static func empty(_ path: String) -> ReaderError {
        reading(
            path, .empty, "the file is empty; check that the program recorded anything and that the disk has space")
    }

    static func notATrace(_ path: String, looksLike: String, advice: String) -> ReaderError {
        reading(path, .notATrace, "it is not a timeline but \(looksLike); \(advice)")
    }

    static func foreignJSON(_ path: String) -> ReaderError {
        reading(
            path, .foreignJSON,
            "it is JSON, but not a Faultline timeline; name a file that \"faultline record\" wrote")
    }

    static func emptyRecording(_ path: String) -> ReaderError {
        reading(
            path, .empty,
            "it is an empty recording: no process recorded anything; record it again, and read the reason that "
                + "\"faultline record\" prints at the end")
    }

    static func reformatted(_ path: String) -> ReaderError {
        reading(
            path, .reformatted,
            "another program has reformatted this timeline; read the original, which has one event per line")
    }

    static func noCTF(_ path: String) -> ReaderError {
        reading(
            path, .notATrace,
            "the directory contains no CTF trace (no file \"metadata\"); name the directory that you passed to "
                + "\"faultline record --to lttng\" or \"lttng create --output\", or a single file if it contains other traces"
        )
    }

    static func foreignCTF(_ path: String, producer: String?) -> ReaderError {
        reading(
            path, .notATrace,
            "it is a CTF trace\(producer.map { " of \"\($0)\"" } ?? "") without Faultline events; record with "
                + "\"faultline record --to lttng\", or enable the events \"faultline*\" in the session")
    }

    static func damagedCTF(_ path: String, _ problem: String) -> ReaderError {
        reading(path, .damaged, "the CTF trace is damaged (\(problem)); record again")
    }

    static func cannotSalvage(_ path: String, _ number: Int32) -> ReaderError {
        reading(
            path, .damaged,
            "it is damaged, and there is no space in \"\(NSTemporaryDirectory())\" for a copy of the intact part "
                + "(\(systemMessage(number))); free some space there, or name another directory in TMPDIR", number)
    }

    static func foreignXML(_ path: String) -> ReaderError {
        reading(
            path, .notATrace,
            "it is XML, but not an export of Instruments' tables; create one with \"xctrace export --input FILE --xpath …\""
        )
    }

    static func brokenXctrace(_ path: String) -> ReaderError {
        reading(path, .nothingReadable, "its XML ends before the first row of a Core Data table; export it again")
    }

    static func emptyXctrace(_ path: String) -> ReaderError {
        reading(
            path, .empty,
            "it contains no rows of Core Data tables; export the tables core-data-fetch, core-data-save, core-data-fault and "
                + "core-data-relationship-fault from a recording made with the Data Persistence template")
    }

    static func excessiveXctrace(_ path: String, line: Int, _ problem: String) -> ReaderError {
        reading(path, .damaged, "the element in line \(line) \(problem), which no export has; export it again")
    }

    static func newerVersion(_ path: String, found: Int, known: Int) -> ReaderError {
        reading(
            path, .newerVersion,
            "it uses version \(found) of the format, but this program supports version \(known); update Faultline")
    }

    static func nothingReadable(_ path: String) -> ReaderError {
        reading(path, .nothingReadable, "it ends before its first complete line; record it again")
    }

    static func outOfMemory(_ path: String) -> ReaderError {
        reading(path, .outOfMemory, "there is not enough memory for the parser; close other programs", ENOMEM)
    }

    static func stillWritten(_ path: String) -> ReaderError {
        ReaderError(
            .cannotAddSymbols,
            "Could not add symbols to the trace \"\(path)\": it is still being written; wait for the program to end.",
            errorNumber: EWOULDBLOCK)
    }

    static func cannotAddSymbols(_ path: String, _ number: Int32) -> ReaderError {
        ReaderError(
            .cannotAddSymbols,
            "Could not add symbols to the trace \"\(path)\": \(systemMessage(number)); the trace is unchanged.",
            errorNumber: number)
    }
}
