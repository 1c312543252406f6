/// The streams of CTF traces, without LTTng's packet indexes.
///
/// libbabeltrace2 trusts an index and ends the process if it does not match its stream. Without an index it reads the
/// packets themselves, which takes no longer. It would also block on a pipe in an index's place.
struct CTFStreams {
    /// Traces of the same streams, in the order of the originals.
    let directories: [String]
    /// The owner of the links.
    private let scratch: CTFScratch

    /// - Throws: ``ReaderError`` if there is no room for links.
    init(_ originals: [String], path: String) throws(ReaderError) {
        scratch = try CTFScratch(path: path)
        var directories: [String] = []
        for (number, original) in originals.enumerated() {
            let directory = try scratch.makeDirectory("\(number)", for: original)
            for file in CTFTrace.streams(of: original) {
                try scratch.link(original + "/" + file, at: directory + "/" + file)
            }
            directories.append(directory)
        }
        self.directories = directories
    }
}
