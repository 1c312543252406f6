import FaultlineTrace

extension PlanEntry.Row {
    /// Parses a line of `EXPLAIN QUERY PLAN`: its number, its parent's number, an unused number, and the detail.
    ///
    ///     3 0 0 SCAN t0 USING INDEX Z_Item_byName
    ///     3|0|0|SCAN TABLE ZITEM AS t0
    ///
    /// Before version 3.36, SQLite named the table before its alias (https://www.sqlite.org/eqp.html); such a line is
    /// converted to the current form.
    ///
    /// - Returns: `nil` if it is not a line of a plan.
    init?(planLine line: Substring) {
        var rest = line.drop { $0 == " " || $0 == "\t" }
        var numbers: [Int] = []
        for _ in 0..<3 {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits) else { return nil }
            numbers.append(number)
            rest = rest[digits.endIndex...]
            guard let separator = rest.first, " |,\t".contains(separator) else { return nil }
            rest = rest.drop { " |,\t".contains($0) }
        }
        guard rest.first?.isUppercase == true else { return nil }
        var words = rest.split(separator: " ")
        if words.count > 2, ["SCAN", "SEARCH"].contains(words[0]), words[1] == "TABLE" {
            words.removeSubrange(words.count > 4 && words[3] == "AS" ? 1...3 : 1...1)
        }
        self.init(id: numbers[0], parent: numbers[1], detail: words.joined(separator: " "))
    }
}
