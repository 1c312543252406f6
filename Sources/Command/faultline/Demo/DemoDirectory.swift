import Foundation

/// The directory given with `faultline demo -o`.
enum DemoDirectory {
    /// The file that marks the other files as a demo's.
    private static let marker = ".faultline-demo"

    /// The beginnings of the names of files that a demo writes.
    private static let prefixes = ["flawed", "improved", "older", "inferred", "mapping", "policy"]

    /// Creates the directory, or checks that it holds only files of an earlier demo, and removes those.
    ///
    /// The parent directory must exist, as for every other output. Otherwise a mistyped path would create directories.
    ///
    /// - Throws: ``CommandFailure`` if the directory cannot be created or is not a demo's.
    static func prepare(_ path: String) throws -> URL {
        let files = FileManager.default
        let url = URL(fileURLWithPath: path)
        do {
            var isDirectory: ObjCBool = false
            if !files.fileExists(atPath: url.path, isDirectory: &isDirectory) {
                guard mkdir(url.path, 0o777) == 0 else {
                    throw CommandFailure.usage(
                        "Cannot make the directory \"\(path)\" (\(String(cString: strerror(errno)))); name another with -o."
                    )
                }
            } else if !isDirectory.boolValue {
                throw CommandFailure.usage("\"\(path)\" is not a directory; name an empty or a new one with -o.")
            }
            let names = try files.contentsOfDirectory(atPath: url.path)
            guard names.isEmpty || names.contains(marker) else {
                throw CommandFailure.usage(
                    "The directory \"\(path)\" holds files that no demo wrote; name an empty or a new one with -o.")
            }
            var status = stat()
            guard lstat(url.path, &status) == 0, status.st_uid == geteuid() || names.isEmpty else {
                throw CommandFailure.usage("The directory \"\(path)\" belongs to another user; name another with -o.")
            }
            // The files are then written anew, so no existing link is followed.
            for name in names where prefixes.contains(where: { name.hasPrefix($0) }) {
                try files.removeItem(at: url.appendingPathComponent(name))
            }
            if !names.contains(marker) {
                try Data().write(to: url.appendingPathComponent(marker), options: .withoutOverwriting)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure.usage(
                "The directory \"\(path)\" cannot be used (\(error.localizedDescription)); name another with -o.")
        }
        return url
    }
}
