import FaultlineReplay

/// A failure that ends the command with one sentence on stderr.
struct CommandFailure: Error, CustomStringConvertible {
    /// The exit status, which lets callers distinguish failures.
    enum Status: Int32 {
        /// The command line is wrong, or names a file that the command cannot use.
        case usage = 2
        /// The tool itself failed.
        case tool = 75
    }

    let status: Status
    let description: String

    static func usage(_ sentence: String) -> CommandFailure {
        CommandFailure(status: .usage, description: sentence)
    }

    static func tool(_ sentence: String) -> CommandFailure {
        CommandFailure(status: .tool, description: sentence)
    }
}

extension CommandFailure {
    /// A failure with a store at rest, caused either by the machine or by the named file.
    static func replay(_ error: ReplayError) -> CommandFailure {
        error.isOfTheMachine ? .tool("\(error)") : .usage("\(error)")
    }
}
