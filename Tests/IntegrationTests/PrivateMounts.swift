import Foundation
import Testing

/// File systems that only one command sees, and that disappear with it.
enum PrivateMounts {
    private static let unshare = geteuid() == 0 ? "unshare --mount" : "unshare --map-root-user --mount"

    static let isAvailable: Bool = {
        let tried = try? BuiltCommand.run(["-c", "\(unshare) mount -t tmpfs tmpfs /mnt"], program: "/bin/sh")
        return tried?.status == 0
    }()

    /// Why tests that want some are skipped.
    static let need: Comment = "needs mounts of one's own: be the superuser, or allow user namespaces"

    /// Runs a script of the shell's after others that mount what it sees.
    ///
    /// - Parameter ownProcesses: Whether it sees no processes but its own.
    static func run(
        _ script: String, after mounts: [String], ownProcesses: Bool = false, environment: [String: String] = [:],
        directory: URL? = nil
    ) throws -> BuiltCommand.Result {
        let whole = (mounts + [script]).joined(separator: " && ")
        let processes = ownProcesses ? "--pid --fork --mount-proc " : ""
        return try BuiltCommand.run(
            ["-c", "exec \(unshare) \(processes)/bin/sh -c \"$0\"", whole], program: "/bin/sh",
            environment: environment, directory: directory)
    }

    /// Mounts an empty disk in memory, of so many bytes.
    static func disk(_ place: String, bytes: Int, options: String = "") -> String {
        "mount -t tmpfs -o size=\(bytes)\(options) tmpfs '\(place)'"
    }
}
