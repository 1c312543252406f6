extension Groceries.Outcome: CustomStringConvertible {
    public var description: String {
        "\(screens) screens, \(rows) rows, \(views) views, checksum \(checksum)"
    }
}

extension MusicLibrary.Outcome: CustomStringConvertible {
    public var description: String { "\(screens) screens, \(rows) rows, checksum \(checksum)" }
}
