import Glibc

/// Opens files by path, and refuses anything that is not a regular file.
///
/// The path of a trace, a budget or a store can name anything. Opening a named pipe waits for a writer, reading a
/// device may never end, and some devices act when they are opened.
package enum RegularFile {
    /// The reason why a file was not opened or read.
    package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// A system call failed with that `errno`.
        case system(Int32)
        /// The path names a pipe, a device or a socket.
        case notRegular
        /// The file is larger than a file of its kind may be.
        case tooLarge(limit: Int)

        /// The reason in a form that fits brackets: `no such file or directory`, `it is not a regular file`….
        package var description: String {
            switch self {
            case .system(let number): String(cString: strerror(number))
            case .notRegular: "it is not a regular file"
            case .tooLarge(let limit): "it is larger than \(limit >> 20) MiB"
            }
        }
    }

    /// Opens a file for reading.
    ///
    /// - Parameter allowingPipe: Whether to accept a pipe that a shell has opened, as for `<(…)`. A named pipe is
    ///   never accepted.
    /// - Returns: A descriptor, which the caller closes.
    package static func open(_ path: String, allowingPipe: Bool = false) throws(Failure) -> Int32 {
        // Nonblocking, since opening a pipe without a writer would wait forever. It has no effect on files.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        // Opening a socket fails with `ENXIO`.
        if descriptor < 0 { throw errno == ENXIO ? .notRegular : .system(errno) }
        var status = stat()
        if fstat(descriptor, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFREG { return descriptor }
            if status.st_mode & S_IFMT == S_IFDIR {
                close(descriptor)
                throw .system(EISDIR)
            }
            if allowingPipe, status.st_mode & S_IFMT == S_IFIFO, isNameless(descriptor) {
                let flags = fcntl(descriptor, F_GETFL)
                if flags >= 0, fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) == 0 { return descriptor }
            }
        }
        close(descriptor)
        throw .notRegular
    }

    /// Returns the bytes of a file, also of one in `/proc`: of those, Foundation returns only the first page.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes.
    ///   - allowingPipe: As for ``open(_:allowingPipe:)``.
    package static func bytes(
        of path: String, atMost limit: Int, allowingPipe: Bool = false
    ) throws(Failure) -> [UInt8] {
        let descriptor = try open(path, allowingPipe: allowingPipe)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw .system(errno) }
            if count == 0 { return bytes }
            bytes += part[..<count]
            if bytes.count > limit { throw .tooLarge(limit: limit) }
        }
    }

    /// Returns the first bytes of a file, at most `length`.
    package static func beginning(of path: String, length: Int) throws(Failure) -> [UInt8] {
        let descriptor = try open(path)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: length)
        let count = pread(descriptor, &bytes, length, 0)
        if count < 0 { throw .system(errno) }
        return Array(bytes.prefix(count))
    }

    /// Whether a path names a regular file that begins with a text.
    package static func begins(_ path: String, with text: String) -> Bool {
        (try? beginning(of: path, length: text.utf8.count)).map { $0.elementsEqual(text.utf8) } ?? false
    }

    /// Whether a pipe has no name in a file system: the kernel calls it `pipe:[4711]`.
    private static func isNameless(_ descriptor: Int32) -> Bool {
        var name = [CChar](repeating: 0, count: 6)
        return readlink("/proc/self/fd/\(descriptor)", &name, 5) == 5 && strcmp(name, "pipe:") == 0
    }
}

/// The identity, size and modification time of a file, which show whether it was written or replaced.
package struct FileStamp: Equatable, Sendable {
    private let device: dev_t
    private let file: ino_t
    private let size: off_t
    private let seconds: Int
    private let nanoseconds: Int

    /// Reads the stamp of a file; `nil` if there is none at the path.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the stamp of an open file; `nil` if the descriptor is not open.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether both are of one file, under any name, even if it has changed.
    package func isSameFile(as other: FileStamp) -> Bool { (device, file) == (other.device, other.file) }

    private init(_ status: stat) {
        (device, file, size) = (status.st_dev, status.st_ino, status.st_size)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
