import Glibc

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
