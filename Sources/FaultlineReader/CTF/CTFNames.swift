/// The streams of CTF traces that hold dictionary entries.
///
/// If these have a channel of their own, there is much less to read than in the whole traces.
struct CTFNames {
    /// Traces with only the streams of entries, in the order of the originals.
    let directories: [String]
    /// The owner of the links.
    private let scratch: CTFScratch

    /// Finds the streams of entries; `nil` if they cannot be determined.
    ///
    /// - Throws: ``ReaderError`` if there is no room for links to them.
    init?(_ originals: [String], path: String) throws(ReaderError) {
        scratch = try CTFScratch(path: path)
        var directories: [String] = []
        for (number, original) in originals.enumerated() {
            let metadata = CTFMetadata(of: original)
            guard metadata.hasPacketsOfLTTng, let streams = metadata.streamsOfNames else { return nil }
            let directory = try scratch.makeDirectory("\(number)", for: original)
            for file in CTFTrace.streams(of: original) {
                guard let stream = CTFStream(original + "/" + file)?.number else { continue }
                if streams.contains(stream) { try scratch.link(original + "/" + file, at: directory + "/" + file) }
            }
            directories.append(directory)
        }
        self.directories = directories
    }
}
