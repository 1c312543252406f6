import CTimelineParser
import FaultlineTrace
import Glibc

/// The lines of a file, in chunks of a megabyte.
///
/// Read, not mapped: behind a mapped file's end there is no room for the parser to read over, and a file that shrinks
/// while it is mapped kills the reader.
final class LineReader {
    /// A line without its newline; valid until the next one is asked for.
    struct Line {
        var start: UnsafePointer<CChar>
        var length: Int
        /// Bytes that can be read from `start` on.
        var capacity: Int
        /// From 1.
        var number: Int
        /// Where the line begins in the file.
        var offset: Int
        /// Whether a newline stood behind it.
        var isTerminated: Bool
        /// Whether it was longer than ``LineReader/maximumLength``; its bytes are gone then.
        var isTooLong = false
        /// Where the line ends in the file, its newline left out.
        var end: Int
    }

    static let chunkLength = 1 << 20
    static let maximumLength = 16 << 20

    private let path: String
    private let descriptor: Int32
    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int
    /// The bytes of the file that are in the buffer and not yet handed out.
    private var start = 0, end = 0
    /// How far they were searched for a newline.
    private var searched = 0
    private var isAtEnd = false
    private var number = 0
    /// Where in the file the next line begins.
    private(set) var offset = 0
    /// Bytes of an overlong line that were let go of.
    private var dropped = 0

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

    /// The next line, or `nil` behind the last.
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
    }

    /// Zeroed, so that the parser never looks at bytes that nobody wrote.
    private static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
        let length = capacity + Int(FTL_PADDING)
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 64)
        memset(buffer, 0, length)
        return buffer
    }

    // MARK: - Files

    /// The file's first bytes, at most `length` of them.
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
