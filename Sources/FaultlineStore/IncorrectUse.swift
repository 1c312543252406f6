// In release builds a precondition drops its sentence. These keep theirs, and cost as little where all is well.

/// Ends the program because of a mistake in it, with a sentence that says which.
///
/// - Parameter message: What was done, on what, and what to do instead.
@inline(never)
package func incorrectUse(
    _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
    fatalError(message(), file: file, line: line)
}

/// Ends the program with a sentence unless it keeps to a condition.
///
/// - Parameter message: Evaluated only if it does not.
@inline(__always)
package func requireCorrectUse(
    _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) {
    guard _fastPath(condition()) else { incorrectUse(message(), file: file, line: line) }
}
