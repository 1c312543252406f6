/// Runs LTTng's own commands.
enum LTTngTool {
    /// The maximum time of a command, in milliseconds.
    ///
    /// It may write buffers to a slow disk.
    private static let patience = 600_000

    /// Runs a command to its end.
    ///
    /// - Returns: The last line of output if the command failed, or `nil` if it succeeded.
    /// - Throws: ``CommandFailure`` if the command is not installed or cannot be run.
    static func run(_ arguments: [String]) throws -> String? {
        switch ExternalCommand(arguments, patience: patience).answer() {
        case .printed(_, status: 0): return nil
        case .printed(let text, _):
            let lines = text.split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }
            return lines.last.map(String.init) ?? "it gives no reason"
        case .silent: return "it does not respond"
        case .missing:
            throw CommandFailure.tool(
                "Recording to LTTng needs the command \"\(arguments[0])\", which is not in PATH; install it with "
                    + "\"apt-get install lttng-tools\".")
        case .unusable(let reason):
            throw CommandFailure.tool(
                "Cannot run the command \"\(arguments[0])\" (\(reason)); reinstall lttng-tools.")
        }
    }
}
