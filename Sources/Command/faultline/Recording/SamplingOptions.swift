import ArgumentParser

/// The number of an option that can be given without one.
///
/// It accepts any text, and checks it later: the parser would take a text that is not a number for the command.
struct SamplingNumber: ExpressibleByArgument, CustomStringConvertible {
    /// The text on the command line.
    let description: String

    /// 99 samples for each second of CPU time.
    static let usualRate = SamplingNumber(argument: "99")
    /// One in 512 KiB that are allocated.
    static let usualInterval = SamplingNumber(argument: "524288")

    init(argument: String) {
        description = argument
    }

    /// - Parameters:
    ///   - range: The numbers that the option accepts.
    ///   - words: The values that the option accepts, for the error.
    /// - Throws: `ValidationError` if the text is not such a number.
    func value(of option: String, in range: ClosedRange<Int>, _ words: String) throws -> Int {
        guard let number = Int(description), range.contains(number) else {
            throw ValidationError(
                "\(option) takes \(words), not \"\(self)\". If that is the command, put \"--\" before it.")
        }
        return number
    }
}
