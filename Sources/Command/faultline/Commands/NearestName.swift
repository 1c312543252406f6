/// Finds the name that a mistyped word stands for.
enum NearestName {
    /// The maximum number of characters that are compared.
    private static let most = 64

    /// Returns the name that is most similar to a word, or `nil` if none is similar.
    ///
    /// Upper and lower case count as the same. Of equally similar names, it is the first.
    ///
    /// - Complexity: O(characters of all names · characters of the word).
    static func of(_ word: String, in names: some Sequence<String>) -> String? {
        var nearest: (name: String, distance: Int)?
        for name in names {
            guard let distance = similarity(word, name), distance < nearest?.distance ?? .max else { continue }
            nearest = (name, distance)
        }
        return nearest?.name
    }

    /// Returns the number of edits from a word to a name, or `nil` if they are too many for a mistake.
    static func similarity(_ word: String, _ name: String) -> Int? {
        let distance = distance(word.lowercased(), name.lowercased())
        return distance < name.count && distance <= max(1, name.count / 3) ? distance : nil
    }

    /// The number of characters to insert, delete, replace or swap with their neighbour to get from one word to another.
    private static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first.prefix(most)), Array(second.prefix(most)))
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
