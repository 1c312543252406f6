/// Reports how far the reading of a file is.
///
///     try ReadingProgress.$observer.withValue(.init { print("\($0) of \($1) bytes") }) { try reader.begin() }
package enum ReadingProgress {
    /// A function that is called while a file is read.
    ///
    /// A type of its own, because optimized code of Swift 6.3 crashes in `withValue` of a task-local value that is an optional
    /// function.
    package struct Observer: Sendable {
        /// Called with the number of bytes that were read and the file's size, after each megabyte and on any thread.
        package let show: @Sendable (_ done: UInt64, _ total: UInt64) -> Void

        package init(_ show: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void) {
            self.show = show
        }
    }

    /// The observer of what this thread reads.
    ///
    /// A file is read once for its names and once for its events. Formats that are not read line by line report
    /// nothing.
    @TaskLocal package static var observer: Observer?
}
