import CBabeltrace
import Glibc

/// The messages of CTF traces, merged by time, one after the other.
final class CTFMessages {
    private let reader: OpaquePointer
    private let path: String
    /// The message that was read last.
    ///
    /// What it points to lives until the next one is asked for.
    let message: UnsafeMutablePointer<ctf_message>

    /// Opens directories that each hold a trace.
    ///
    /// - Parameter namesOnly: Whether events are passed over.
    /// - Throws: ``ReaderError`` if one of them cannot be read.
    init(_ directories: [String], namesOnly: Bool, path: String) throws(ReaderError) {
        var problem = [CChar](repeating: 0, count: 1024)
        let paths = directories.map { strdup($0) }
        defer { paths.forEach { free($0) } }
        let arguments = paths.map { UnsafePointer($0) }
        guard let reader = ctf_open(arguments, arguments.count, namesOnly, &problem, problem.count) else {
            let text = problem.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw .damagedCTF(path, String(decoding: text, as: UTF8.self))
        }
        self.reader = reader
        self.path = path
        message = .allocate(capacity: 1)
        memset(message, 0, MemoryLayout<ctf_message>.size)
    }

    deinit {
        ctf_close(reader)
        message.deallocate()
    }

    /// Passes over what another one has handed out of the same traces.
    func goOn(_ other: CTFMessages) throws(ReaderError) {
        guard ctf_go_on(reader, other.reader) else { throw .outOfMemory(path) }
    }

    /// Reads the next message into ``message``; `CTF_END` behind the last one.
    func next() -> ctf_kind { ctf_next(reader, message) }

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
