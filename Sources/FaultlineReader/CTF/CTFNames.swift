/// The part of CTF traces that holds dictionary entries.
///
/// Where they have a channel of their own, that is much less to read than all of the traces.
struct CTFNames {
    /// Traces in which the streams of entries are, in the order of the originals.
    let directories: [String]
    /// Holds the links.
    private let scratch: CTFScratch

    /// Finds the streams of entries; `nil` if it is not known which they are.
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
