/// Reports how far the reading of a file is.
///
///     try ReadingProgress.$observer.withValue({ print("\($0) of \($1) bytes") }) { try reader.begin() }
package enum ReadingProgress {
    /// Called with the number of bytes that were read and the file's size, after each megabyte and on any thread.
    ///
    /// A file is read once for its names and once for its events. Formats that are not read line by line report
    /// nothing.
    @TaskLocal package static var observer: (@Sendable (_ done: UInt64, _ total: UInt64) -> Void)?
}
