/// Shares of a whole as block characters, the height of each standing for one share.
enum Blocks {
    private static let characters = Array("▁▂▃▄▅▆▇█")

    /// Returns the character for a share from 0 to 1.
    ///
    /// Everything above 0 has some height, so nothing that happened is invisible.
    static func character(_ share: Double) -> Character {
        let level = Int((share * Double(characters.count)).rounded(.up))
        return characters[max(1, min(characters.count, level)) - 1]
    }

    /// Returns the characters for values, the largest of which stands for the whole.
    ///
    /// A value of 0 becomes a space.
    static func text(_ values: [Double]) -> String {
        let most = values.max() ?? 0
        return String(values.map { $0 > 0 ? character($0 / most) : " " })
    }
}
