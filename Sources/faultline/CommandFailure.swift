import FaultlineReplay

/// A failure that ends the command with one sentence on stderr.
struct CommandFailure: Error, CustomStringConvertible {
    /// The exit status: what whoever called the command can tell apart.
    enum Status: Int32 {
        /// The command was called wrongly, or on something that it cannot work on.
        case usage = 2
        /// The tool itself could not do its work.
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
    /// What went wrong with a store at rest: the machine's fault, or what was named.
    static func replay(_ error: ReplayError) -> CommandFailure {
        error.isOfTheMachine ? .tool("\(error)") : .usage("\(error)")
    }
}
