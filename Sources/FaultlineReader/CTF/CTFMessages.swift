import CBabeltrace
import Glibc

/// The messages of CTF traces, merged by time, one after the other.
final class CTFMessages {
    private let child: OpaquePointer
    /// The message that was read last.
    ///
    /// It and what it points to live until the next one is asked for.
    private(set) var message: UnsafeMutablePointer<ctf_message>
    /// Whose messages are passed over; its positions are looked at all the time.
    private let before: CTFMessages?

    /// Opens directories that each hold a trace.
    ///
    /// They are read in a process of their own, which libbabeltrace2 may end: that is then told as any other damage.
    ///
    /// - Parameters:
    ///   - namesOnly: Whether events are passed over.
    ///   - before: What has handed out part of the same traces, which is passed over.
    /// - Throws: ``ReaderError`` if one of them cannot be read.
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

    /// What ``message`` is before the first.
    nonisolated(unsafe) private static let nothing: UnsafeMutablePointer<ctf_message> = {
        let nothing = UnsafeMutablePointer<ctf_message>.allocate(capacity: 1)
        memset(nothing, 0, MemoryLayout<ctf_message>.size)
        return nothing
    }()

    /// Reads the next message into ``message``; `CTF_END` behind the last one.
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
