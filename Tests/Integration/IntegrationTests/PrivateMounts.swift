import Foundation
import Testing

/// File systems that only one command sees, and that disappear with it.
enum PrivateMounts {
    private static let unshare = geteuid() == 0 ? "unshare --mount" : "unshare --map-root-user --mount"

    static let isAvailable: Bool = {
        let tried = try? BuiltCommand.run(["-c", "\(unshare) mount -t tmpfs tmpfs /mnt"], program: "/bin/sh")
        return tried?.status == 0
    }()

    /// Why tests that need private mounts are skipped.
    static let need: Comment = "needs mounts of one's own: be the superuser, or allow user namespaces"

    /// Runs a shell script after others that mount what it sees.
    ///
    /// - Parameter ownProcesses: Whether the script sees only its own processes.
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

    /// Mounts an empty disk of a given size in memory.
    static func disk(_ place: String, bytes: Int, options: String = "") -> String {
        "mount -t tmpfs -o size=\(bytes)\(options) tmpfs '\(place)'"
    }
}
