// Release builds drop the message of a precondition. These keep it, and cost as little when the condition holds.

/// Stops the program because of a programming error, with a message.
///
/// - Parameter message: The operation, its object, and what to do instead.
@inline(never)
package func incorrectUse(
    _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
    fatalError(message(), file: file, line: line)
}

/// Stops the program with a message unless a condition holds.
///
/// - Parameter message: Evaluated only if the condition does not hold.
@inline(__always)
package func requireCorrectUse(
    _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) {
    guard _fastPath(condition()) else { incorrectUse(message(), file: file, line: line) }
}
