import ArgumentParser

/// How often a thread is sampled for each second of its CPU time.
struct SamplingRate: ExpressibleByArgument, CustomStringConvertible {
    /// The text on the command line, which ``samplesPerSecond`` may refuse.
    let text: String

    static let usual = SamplingRate(argument: "99")

    /// Accepts any text: one that is no number must not be taken for the command, as the parser would.
    init(argument: String) {
        text = argument
    }

    /// - Throws: `ValidationError` if the text is no number from 1 to 10,000.
    func samplesPerSecond() throws -> Int {
        guard let number = Int(text), (1...10_000).contains(number) else {
            throw ValidationError(
                "--cpu takes a number of samples from 1 to 10000 for each second of CPU time, not \"\(text)\". "
                    + "If that is the command, put \"--\" before it.")
        }
        return number
    }

    var description: String { text }
}

/// The mean distance between two sampled allocations.
struct SamplingInterval: ExpressibleByArgument, CustomStringConvertible {
    /// The text on the command line, which ``bytes()`` may refuse.
    let text: String

    static let usual = SamplingInterval(argument: "524288")

    /// Accepts any text: one that is no number must not be taken for the command, as the parser would.
    init(argument: String) {
        text = argument
    }

    /// - Throws: `ValidationError` if the text is no number of at least 1,024.
    func bytes() throws -> Int {
        guard let number = Int(text), (1024...1 << 40).contains(number) else {
            throw ValidationError(
                "--allocations takes a number of bytes, at least 1024, not \"\(text)\". "
                    + "If that is the command, put \"--\" before it.")
        }
        return number
    }

    var description: String { text }
}
