import Foundation
import Testing

/// A private environment for LTTng: its only session daemons are those that a script starts, and all end with the
/// script.
enum LTTngSandbox {
    static let isAvailable: Bool = {
        let tools = try? BuiltCommand.run(
            ["-c", "command -v lttng && command -v lttng-sessiond && command -v babeltrace2"], program: "/bin/sh")
        return tools?.status == 0 && PrivateMounts.isAvailable
    }()

    static let need = Comment(
        rawValue: "needs LTTng and namespaces: apt-get install lttng-tools babeltrace2, and be the superuser or allow "
            + "user namespaces")

    /// Runs a shell script.
    ///
    /// The script can use:
    ///
    /// - `start_daemon`: starts a session daemon;
    /// - `record SESSION DIRECTORY [OPTION…]`: creates and starts a session with a channel `events`, with options, and
    ///   one for the dictionary;
    /// - `finish SESSION`: ends the session once everything is written;
    /// - `await FILE COUNT`: waits until a file has a number of lines;
    /// - `$FAULTLINE`: the command.
    static func run(_ script: String, directory: TemporaryDirectory) throws -> BuiltCommand.Result {
        let file = directory.url.appendingPathComponent("script-\(UUID().uuidString).sh")
        try (prelude + script + "\n").write(to: file, atomically: true, encoding: .utf8)
        return try PrivateMounts.run(
            "exec /bin/bash '\(file.path)'",
            after: ["mount -t tmpfs tmpfs /run", "mkdir /run/lttng", "mount -t tmpfs tmpfs /dev/shm"],
            ownProcesses: true,
            environment: [
                "FAULTLINE": BuiltCommand.faultline, "HOME": directory.url.path, "LTTNG_HOME": directory.url.path,
            ], directory: directory.url)
    }

    private static let prelude = """
        set -eu
        start_daemon() { lttng-sessiond --daemonize --no-kernel; }
        record() {
            lttng --quiet --no-sessiond create "$1" --output="$2"
            lttng --quiet enable-channel --userspace --session="$1" "${@:3}" events
            lttng --quiet enable-channel --userspace --session="$1" --subbuf-size=1M dictionary
            lttng --quiet enable-event --userspace --session="$1" --channel=events 'faultline:*'
            lttng --quiet enable-event --userspace --session="$1" --channel=dictionary \\
                'faultline_dictionary:*,faultline_statedump:*'
            lttng --quiet start "$1"
        }
        finish() {
            lttng --quiet stop "$1"
            lttng --quiet destroy "$1"
        }
        await() { tail --lines=+1 --follow=name --retry "$1" 2>/dev/null | head --lines="$2" >/dev/null; }
        # A busy machine may need longer than LTTng waits for a daemon by default.
        export LTTNG_UST_REGISTER_TIMEOUT=-1

        """
}
