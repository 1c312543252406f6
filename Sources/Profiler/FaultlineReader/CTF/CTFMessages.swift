import CBabeltrace
import Glibc

/// The messages of CTF traces, merged by time, one after the other.
final class CTFMessages {
    private let child: OpaquePointer
    /// The last message read.
    ///
    /// It and everything it points to stay valid until the next one is read.
    private(set) var message: UnsafeMutablePointer<ctf_message>
    /// The reader whose messages this one skips; it compares their positions throughout.
    private let before: CTFMessages?

    /// Opens directories that each hold a trace.
    ///
    /// They are read in a separate process, because libbabeltrace2 may end it. If it does, that is reported like any
    /// other damage.
    ///
    /// - Parameters:
    ///   - namesOnly: Whether to skip events.
    ///   - before: The reader that has already delivered part of the same traces, which is skipped.
    /// - Throws: ``ReaderError`` if one of the traces cannot be read.
    init(
        _ directories: [String], namesOnly: Bool, after before: CTFMessages? = nil, path: String
    ) throws(ReaderError) {
        var problem = [CChar](repeating: 0, count: 1024)
        let paths = directories.map { strdup($0) }
        defer { paths.forEach { free($0) } }
        let arguments = paths.map { UnsafePointer($0) }
        let opened = ctf_child_open(
            arguments, arguments.count, namesOnly, before?.child, &problem, problem.count)
        guard let opened else {
            let text = problem.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw .damagedCTF(path, String(decoding: text, as: UTF8.self))
        }
        child = opened
        self.before = before
        message = Self.nothing
    }

    deinit {
        ctf_child_close(child)
    }

    /// The value of ``message`` before the first one.
    nonisolated(unsafe) private static let nothing: UnsafeMutablePointer<ctf_message> = {
        let nothing = UnsafeMutablePointer<ctf_message>.allocate(capacity: 1)
        memset(nothing, 0, MemoryLayout<ctf_message>.size)
        return nothing
    }()

    /// Reads the next message into ``message``; returns `CTF_END` after the last one.
    func next() -> ctf_kind {
        var next: UnsafeMutablePointer<ctf_message>? = message
        let kind = ctf_child_next(child, &next)
        if let next { message = next }
        return kind
    }

    /// The message's text.
    var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of the message's text.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: message.pointee.text, count: message.pointee.text == nil ? 0 : message.pointee.length)
    }

    /// The return addresses of the message's stack.
    var frames: UnsafeBufferPointer<UInt64> {
        UnsafeBufferPointer(start: message.pointee.frames, count: Int(message.pointee.frame_count))
    }
}
