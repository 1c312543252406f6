import ArgumentParser

/// A number of bytes on the command line, such as `500M`.
struct ByteSize: ExpressibleByArgument {
    let bytes: UInt64

    private static let units: [(suffix: String, shift: Int)] = [("K", 10), ("M", 20), ("G", 30), ("T", 40)]

    init?(argument: String) {
        var text = argument.uppercased()
        // "500MiB" and "500MB" are what other tools take.
        for end in ["IB", "B"] where text.hasSuffix(end) {
            text.removeLast(end.count)
            break
        }
        let unit = Self.units.first { text.hasSuffix($0.suffix) }
        if unit != nil { text.removeLast() }
        guard let number = UInt64(text) else { return nil }
        let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: 1 << (unit?.shift ?? 0))
        guard !isTooMuch else { return nil }
        self.bytes = bytes
    }
}
