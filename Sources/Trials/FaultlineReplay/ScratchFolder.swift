import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Glibc

/// A private folder for copies, which is removed when its last reference is released.
final class ScratchFolder {
    private static let storeName = "store.sqlite"

    private let directory: OwnedDirectory
    private var path: String { directory.path }

    /// - Throws: ``ReplayError`` if the folder cannot be created.
    init() throws(ReplayError) {
        var failure: Int32 = 0
        let made = ScratchFolders.insert {
            let made = OwnedDirectory.make(in: NSTemporaryDirectory(), purpose: .copies, content: "")
            failure = errno
            return made
        }
        guard let made else { throw ReplayError.noScratch(NSTemporaryDirectory(), String(cString: strerror(failure))) }
        directory = made
    }

    /// The URL of a store in the folder.
    var storeURL: URL { URL(fileURLWithPath: path).appendingPathComponent(Self.storeName) }

    deinit { ScratchFolders.remove(directory) }

    /// Replaces the copy's path in a message with the store's, because the copy's location does not concern the user.
    static func namingStore(_ text: String, copyOf store: String) -> String {
        text.replacing(#/[^\s'"]*/faultline-[^/\s'"]*/[a-z]+\.sqlite/#, with: store)
    }

    /// Copies a store with its companion files in a consistent state, and returns the path of the copy.
    ///
    /// - Parameters:
    ///   - path: The store's own path, without links (``StorePath``).
    ///   - name: The name of the copy; `nil` for that of ``storeURL``.
    /// - Throws: ``ReplayError`` if there is no space, a file cannot be read, or the store is written to all the time.
    func copyStore(_ path: String, as name: String? = nil) throws(ReplayError) -> String {
        let name = name ?? Self.storeName
        let snapshot = StoreSnapshot(path: path) { (source, suffix) throws(ReplayError) in
            _ = try self.copy(source, as: name + suffix)
        } remove: { suffix in
            unlink(self.filePath(of: name) + suffix)
        }
        try snapshot.take()
        return filePath(of: name)
    }

    /// Copies the store in this folder to another file in it, and returns the path of the copy.
    func duplicateStore(as name: String) throws(ReplayError) -> String {
        try copy(storeURL.path, as: name)
    }

    /// The path of a file in the folder.
    func filePath(of name: String) -> String { (path as NSString).appendingPathComponent(name) }

    /// Copies the files with a store's large values, for the copy that ``copyStore(_:)`` made.
    func copySupport(of path: String) throws(ReplayError) {
        let support = PersistentStore.supportFolder(of: URL(fileURLWithPath: path)).path
        let folder = PersistentStore.supportFolder(of: URL(fileURLWithPath: Self.storeName)).lastPathComponent
        guard let files = try? FileManager.default.subpathsOfDirectory(atPath: support) else { return }
        for file in files.sorted() {
            let from = (support as NSString).appendingPathComponent(file)
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: from, isDirectory: &isFolder) else { continue }
            if isFolder.boolValue { continue }
            _ = try copy(from, as: folder + "/" + file)
        }
    }

    /// Copies the contents of a file to a new one, never as a link, and returns the path of the copy.
    private func copy(_ source: String, as name: String) throws(ReplayError) -> String {
        let filePath = (path as NSString).appendingPathComponent(name)
        let folder = (filePath as NSString).deletingLastPathComponent
        do {
            if folder != path {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            try Self.copyBytes(from: source, to: filePath)
        } catch let error as RegularFile.Failure {
            throw ReplayError.cannotCopy(source, "\(error)")
        } catch let error as POSIXError {
            throw ReplayError.cannotCopy(
                source, String(cString: strerror(error.code.rawValue)),
                isLackOfRoom: [.ENOSPC, .EDQUOT, .EFBIG].contains(error.code))
        } catch {
            throw ReplayError.cannotCopy(source, error.localizedDescription)
        }
        return filePath
    }

    private static func copyBytes(from source: String, to filePath: String) throws {
        func failure() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let input = try RegularFile.open(source)
        defer { close(input) }
        // The file must be new, so that later writes cannot reach a file of someone else's.
        let output = open(filePath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw failure() }
        defer { close(output) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(input, buffer.baseAddress, buffer.count)
            guard count >= 0 else { throw failure() }
            if count == 0 { return }
            var written = 0
            while written < count {
                let part = write(output, buffer.baseAddress! + written, count - written)
                guard part >= 0 else { throw failure() }
                written += part
            }
        }
    }
}
