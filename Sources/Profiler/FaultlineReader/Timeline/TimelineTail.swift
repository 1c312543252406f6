import CTimelineParser
import FaultlineTrace
import Glibc

/// The position at which lines can be added to a timeline: after its last complete line.
struct TimelineTail {
    /// The offset in the file at which the last line to keep ends, including its comma.
    private var end = 0
    /// Whether the next line must be preceded by a comma.
    private var needsComma = false

    /// Finds the end of the lines to keep.
    ///
    /// The closing bracket is dropped, and so is an incomplete last line in a file that is cut off: no reader can use
    /// it, and no viewer would open a file that contains it in the middle.
    private init(of path: String, _ descriptor: Int32) throws(ReaderError) {
        guard let parser = ftl_parser_create() else { throw .outOfMemory(path) }
        defer { ftl_parser_destroy(parser) }
        let result = UnsafeMutablePointer<ftl_line>.allocate(capacity: 1)
        defer { result.deallocate() }
        let lines = try LineReader(path: path)
        while let line = try lines.next() {
            if line.isTooLong {
                keepLongLine(try Ends(of: line, descriptor, path), isTerminated: line.isTerminated)
                continue
            }
            var text = Self.trimmed(line)
            if text.isEmpty { continue }
            if text.elementsEqual([UInt8(ascii: "]")]) { continue }
            if !line.isTerminated {
                let kind = ftl_parse_line(parser, line.start, line.length, line.capacity, result)
                if kind == .FTL_LINE_MALFORMED { break }
            }
            if text.first == UInt8(ascii: "{") && text.last == UInt8(ascii: "]") { text = text.dropLast() }
            end = line.offset + text.endIndex
            needsComma = text.last != UInt8(ascii: ",") && text.last != UInt8(ascii: "[")
        }
    }

    /// The first byte and the last non-blank byte of a line that is too long to hold in memory.
    private struct Ends {
        var first: UInt8?
        var last: UInt8?
        /// The offset in the file after the last non-blank byte.
        var end: Int

        init(of line: LineReader.Line, _ descriptor: Int32, _ path: String) throws(ReaderError) {
            (first, last, end) = (try Self.byte(line.offset, descriptor, path), nil, line.end)
            while end > line.offset {
                last = try Self.byte(end - 1, descriptor, path)
                guard let last, last.isSpace else { return }
                end -= 1
            }
        }

        private static func byte(_ offset: Int, _ descriptor: Int32, _ path: String) throws(ReaderError) -> UInt8? {
            var byte: UInt8 = 0
            let count = pread(descriptor, &byte, 1, off_t(offset))
            if count < 0 { throw .cannotAddSymbols(path, errno) }
            return count == 1 ? byte : nil
        }
    }

    /// Keeps a line that is too long to parse, unless the file is cut off within it: other readers may be able to read
    /// the event.
    private mutating func keepLongLine(_ line: Ends, isTerminated: Bool) {
        var line = line
        let isWhole = [UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: "]")].contains(line.last)
        guard isTerminated || isWhole else { return }
        if line.first == UInt8(ascii: "{"), line.last == UInt8(ascii: "]") {
            line.end -= 1
            line.last = UInt8(ascii: "}")
        }
        end = line.end
        needsComma = line.last != UInt8(ascii: ",") && line.last != UInt8(ascii: "[")
    }

    /// The line's bytes without trailing white space, indexed by their offsets in the line.
    private static func trimmed(_ line: LineReader.Line) -> Slice<UnsafeRawBufferPointer> {
        let bytes = UnsafeRawBufferPointer(start: line.start, count: line.length)
        var text = bytes[...]
        while let last = text.last, last.isSpace { text = text.dropLast() }
        return text
    }

    /// Adds lines after a timeline's last complete line, followed by the closing bracket.
    ///
    /// If that fails, the file is restored.
    ///
    /// - Parameter isBesideTrace: Whether the file is a separate one beside the trace.
    /// - Returns: The file's stamp after the addition.
    static func append(
        _ lines: [String], to path: String, isBesideTrace: Bool = false
    ) throws(ReaderError) -> FileStamp? {
        // No symbolic link beside a CTF trace, since it could lead to someone else's file.
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | (isBesideTrace ? O_NOFOLLOW : 0))
        if descriptor < 0 { throw .cannotAddSymbols(path, errno) }
        defer { close(descriptor) }
        // The recorder holds this lock while it writes; others hold it briefly while they read or extend the trace.
        for _ in 0..<attempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                try TimelineTail(of: path, descriptor).replace(with: lines, descriptor, path)
                return FileStamp(descriptor: descriptor)
            }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .cannotAddSymbols(path, errno) }
            usleep(1000)
        }
        throw .stillWritten(path)
    }

    /// The number of attempts to take the lock, one per millisecond.
    private static let attempts = 2000

    private func replace(with lines: [String], _ descriptor: Int32, _ path: String) throws(ReaderError) {
        let old = try Self.read(descriptor, from: end, path)
        let text = (needsComma ? "," : "") + "\n" + lines.joined(separator: ",\n") + "\n]\n"
        let new = Array(text.utf8)
        if Self.write(new, descriptor, at: end), ftruncate(descriptor, off_t(end + new.count)) == 0 { return }
        let number = errno
        // The disk had room for these bytes before.
        _ = Self.write(old, descriptor, at: end)
        ftruncate(descriptor, off_t(end + old.count))
        throw .cannotAddSymbols(path, number)
    }

    private static func read(_ descriptor: Int32, from offset: Int, _ path: String) throws(ReaderError) -> [UInt8] {
        let length = lseek(descriptor, 0, SEEK_END)
        if length < 0 { throw .cannotAddSymbols(path, errno) }
        var bytes = [UInt8](repeating: 0, count: max(0, Int(length) - offset))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset + done))
            }
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw .cannotAddSymbols(path, errno)
            }
            done += count
        }
        return Array(bytes.prefix(done))
    }

    private static func write(_ bytes: [UInt8], _ descriptor: Int32, at offset: Int) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset + done))
            }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return false }
            done += count
        }
        return true
    }
}
