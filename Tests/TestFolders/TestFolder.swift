public import Foundation

/// Places for the files of tests, in one folder that goes when the test process ends.
///
/// A test that fails, or whose objects outlive it, leaves nothing behind that way. What processes have left that were killed,
/// or that a test had end with a trap, goes when another begins or ends.
public enum TestFolder {
    private static let prefix = "faultline-tests-"

    private static let all: URL = {
        removeLeftovers()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(prefix + String(getpid()))
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        atexit {
            try? FileManager.default.removeItem(at: TestFolder.all)
            TestFolder.removeLeftovers()
        }
        return folder
    }()

    /// Makes an empty folder.
    public static func make() throws -> URL {
        let folder = all.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// A place for a file or a folder that is not there.
    public static func file(_ extension: String = "") -> URL {
        let place = all.appendingPathComponent(UUID().uuidString)
        return `extension`.isEmpty ? place : place.appendingPathExtension(`extension`)
    }

    private static func removeLeftovers() {
        let files = FileManager.default
        let names = (try? files.contentsOfDirectory(atPath: files.temporaryDirectory.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
                continue
            }
            try? files.removeItem(at: files.temporaryDirectory.appendingPathComponent(name))
        }
    }
}
