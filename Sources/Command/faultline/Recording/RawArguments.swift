import FaultlineReport
import Foundation

/// The arguments of this process as bytes.
///
/// `CommandLine.arguments` replaces bytes that are not UTF-8, and so names other files.
enum RawArguments {
    /// Checks that this command's own arguments are UTF-8.
    ///
    /// - Parameter count: The number of arguments at the end that another program gets, as they are.
    /// - Throws: ``CommandFailure`` if one is not.
    static func check(passingOn count: Int) throws {
        for index in 1..<max(1, CommandLine.arguments.count - count) where isRepaired(index) {
            throw CommandFailure.usage(
                "The argument \"\(CommandLine.arguments[index])\" is not valid UTF-8; rename the file, or name it by a link "
                    + "whose path is.")
        }
    }

    /// Copies of arguments, ended by a null.
    ///
    /// If they are the last arguments of this process, their bytes are copied.
    static func copies(of arguments: [String]) -> [UnsafeMutablePointer<CChar>?] {
        guard CommandLine.arguments.suffix(arguments.count) == arguments[...] else {
            return arguments.map { strdup($0) } + [nil]
        }
        let first = CommandLine.arguments.count - arguments.count
        return arguments.indices.map { CommandLine.unsafeArgv[first + $0].flatMap { strdup($0) } } + [nil]
    }

    private static func isRepaired(_ index: Int) -> Bool {
        CommandLine.unsafeArgv[index].map { strcmp($0, CommandLine.arguments[index]) != 0 } ?? false
    }
}
