// The compiler attributes "stat" to whichever C module it loads first: this one or Glibc.
import CElfutils
import CTimelineParser
import FaultlineTrace
import Glibc

/// Reads the lines of a file, in chunks of a megabyte.
///
/// The file is not mapped: the parser needs readable bytes after the end of its input, and a file that shrinks while
/// mapped kills the reader.
final class LineReader {
    /// A line without its newline, valid until the next one is read.
    struct Line {
        var start: UnsafePointer<CChar>
        var length: Int
        /// The number of readable bytes from `start`.
        var capacity: Int
        /// The line's number, from 1.
        var number: Int
        /// The offset of the line in the file.
        var offset: Int
        /// Whether a newline follows.
        var isTerminated: Bool
        /// Whether it was longer than ``LineReader/maximumLength``; if so, its bytes were dropped.
        var isTooLong = false
        /// The offset in the file of the line's end, without its newline.
        var end: Int
    }

    static let chunkLength = 1 << 20
    static let maximumLength = 16 << 20

    private let path: String
    private let descriptor: Int32
    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int
    /// The range of bytes in the buffer that are not yet returned.
    private var start = 0, end = 0
    /// The end of the part that was searched for a newline.
    private var searched = 0
    private var isAtEnd = false
    private var number = 0
    /// The offset of the next line in the file.
    private(set) var offset = 0
    /// The number of bytes dropped from an overlong line.
    private var dropped = 0
    /// The number of bytes that were read.
    private var bytesRead: UInt64 = 0
    private let observer = ReadingProgress.observer

    init(path: String) throws(ReaderError) {
        self.path = path
        descriptor = try Self.open(path)
        capacity = Self.chunkLength
        buffer = Self.allocate(capacity)
    }

    deinit {
        close(descriptor)
        buffer.deallocate()
    }

    /// Returns the next line, or `nil` after the last.
    func next() throws(ReaderError) -> Line? {
        while true {
            if let newline = memchr(buffer + searched, 0x0A, end - searched) {
                let position = UnsafeRawPointer(newline) - UnsafeRawPointer(buffer)
                return take(to: position, isTerminated: true)
            }
            searched = end
            if isAtEnd { return start < end || dropped > 0 ? take(to: end, isTerminated: false) : nil }
            if end - start > Self.maximumLength {
                dropped += end - start
                (start, end, searched) = (0, 0, 0)
            }
            try fill()
        }
    }

    private func take(to position: Int, isTerminated: Bool) -> Line {
        number += 1
        var line = Line(
            start: UnsafePointer((buffer + start).assumingMemoryBound(to: CChar.self)), length: position - start,
            capacity: capacity + Int(FTL_PADDING) - start, number: number, offset: offset, isTerminated: isTerminated,
            end: offset + dropped + position - start)
        offset = line.end + (isTerminated ? 1 : 0)
        if dropped > 0 || line.length > Self.maximumLength {
            line.length = 0
            line.isTooLong = true
            dropped = 0
        }
        start = isTerminated ? position + 1 : position
        searched = start
        return line
    }

    private func fill() throws(ReaderError) {
        if start > 0 {
            memmove(buffer, buffer + start, end - start)
            end -= start
            start = 0
            searched = end
        }
        if end == capacity {
            let larger = Self.allocate(capacity * 2)
            memcpy(larger, buffer, end)
            buffer.deallocate()
            buffer = larger
            capacity *= 2
        }
        let count = Glibc.read(descriptor, buffer + end, capacity - end)
        if count < 0 {
            if errno == EINTR { return }
            throw .cannotRead(path, line: number, errno)
        }
        isAtEnd = count == 0
        end += count
        bytesRead += UInt64(count)
        observer?.show(bytesRead, size)
    }

    /// The file's current size, which grows while its program runs.
    private var size: UInt64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_size > 0 ? UInt64(status.st_size) : 0
    }

    /// Zeroed, because the parser reads past the end of its input.
    private static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
        let length = capacity + Int(FTL_PADDING)
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 64)
        memset(buffer, 0, length)
        return buffer
    }

    // MARK: - Files

    /// Returns the file's first bytes, at most `length` of them.
    static func head(of path: String, length: Int) throws(ReaderError) -> [UInt8] {
        let descriptor = try open(path)
        defer { close(descriptor) }
        var head = [UInt8](repeating: 0, count: length)
        let count = pread(descriptor, &head, length, 0)
        if count < 0 { throw .cannotRead(path, line: 0, errno) }
        return Array(head.prefix(count))
    }

    private static func open(_ path: String) throws(ReaderError) -> Int32 {
        do throws(RegularFile.Failure) {
            return try RegularFile.open(path)
        } catch {
            switch error {
            case .system(let number): throw .cannotOpen(path, number)
            case .notRegular, .tooLarge: throw CTFTrace.isDirectory(path) ? .isDirectory(path) : .isNotRegular(path)
            }
        }
    }
}
