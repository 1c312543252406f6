import Foundation

/// Namespaces of one's own, with mounts that disappear with the command that runs in them.
enum Namespaces {
    /// What makes them, before a command.
    static let unshare = geteuid() == 0 ? "unshare --mount" : "unshare --map-root-user --mount"

    static let areAvailable: Bool = {
        let tried = try? BuiltCommand.run(["-c", "\(unshare) mount -t tmpfs tmpfs /mnt"], program: "/bin/sh")
        return tried?.status == 0
    }()

    static let need = "needs namespaces: allow user namespaces, or be the superuser"
}
