/// The streams of CTF traces without LTTng's indexes of their packets.
///
/// libbabeltrace2 believes an index and ends the process where it does not fit its stream; without one it looks at the
/// packets themselves, which takes no longer. It would also wait for a pipe that lies in an index's place.
struct CTFStreams {
    /// Traces of the same streams, in the order of the originals.
    let directories: [String]
    /// Holds the links.
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
