/// The text that a formatter of Python's `logging` puts before a message.
struct PythonPrefix: Equatable {
    var isEmpty = true
    /// The time at which the message was logged; `nil` if the prefix has none.
    var time: LogTime?
    /// The process and the thread; 0 if the prefix has none.
    var process: UInt32 = 0, thread: UInt32 = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        isEmpty = bytes.isEmpty
        guard !isEmpty else { return }
        time = LogTime(in: bytes)
        (process, thread) = Self.numbers(bytes) ?? (0, 0)
    }

    /// Whether another prefix has the same parts, and can come from the same formatter.
    func isLike(_ other: PythonPrefix) -> Bool {
        isEmpty == other.isEmpty && (time == nil) == (other.time == nil) && (process == 0) == (other.process == 0)
    }

    /// The process and the thread if they are the last two words, as in Django's documented format
    /// `{levelname} {asctime} {module} {process:d} {thread:d} {message}`.
    ///
    /// On 64-bit Linux and macOS Python's thread number is an address, which no line number reaches
    /// (https://docs.python.org/3/library/threading.html#threading.get_ident).
    private static func numbers(_ bytes: UnsafeRawBufferPointer) -> (UInt32, UInt32)? {
        var position = bytes.count
        func number() -> UInt64? {
            while position > 0, bytes[position - 1] == 0x20 { position -= 1 }
            let end = position
            while position > 0, bytes[position - 1].isDigit { position -= 1 }
            guard (1...19).contains(end - position), position == 0 || bytes[position - 1] == 0x20 else { return nil }
            return bytes[position..<end].reduce(0) { $0 * 10 + UInt64($1 - 0x30) }
        }
        guard let thread = number(), thread > UInt64(UInt32.max), let owner = number(), owner > 0,
            let process = UInt32(exactly: owner)
        else { return nil }
        return (process, UInt32(truncatingIfNeeded: thread ^ thread >> 32))
    }
}
