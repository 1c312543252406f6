/// Makes texts that are almost sound out of sound ones, depending on a seed alone.
struct Mutation {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// A number from 0 on and below another.
    mutating func number(_ count: Int) -> Int { Int(next() % UInt64(max(count, 1))) }

    mutating func mutate(_ corpus: [[UInt8]]) -> [UInt8] {
        var text = corpus[number(corpus.count)]
        for _ in 0...number(4) { change(&text, corpus) }
        return text
    }

    private mutating func change(_ text: inout [UInt8], _ corpus: [[UInt8]]) {
        guard !text.isEmpty else { return text = corpus[number(corpus.count)] }
        let place = number(text.count)
        let end = min(text.count, place + 1 + number(12))
        switch number(9) {
        case 0: text[place] = UInt8(number(256))
        case 1: text[place] ^= 1 << UInt8(number(8))
        case 2: text.removeSubrange(place..<end)
        case 3: text.insert(contentsOf: text[place..<end], at: number(text.count))
        case 4: text.insert(contentsOf: Self.pieces[number(Self.pieces.count)], at: place)
        case 5:
            let other = corpus[number(corpus.count)]
            let start = number(other.count)
            text.insert(contentsOf: other[start..<min(other.count, start + 1 + number(40))], at: place)
        case 6: text = Array(text[..<place])
        case 7:
            // The same piece many times over: depth and length.
            let piece = Array(text[place..<end])
            for _ in 0..<number(200) { text.insert(contentsOf: piece, at: place) }
        default: text.replaceSubrange(place..<end, with: Self.pieces[number(Self.pieces.count)])
        }
    }

    private static let pieces: [[UInt8]] = [
        "(", ")", "{", "}", "[", "]", "'", "\"", "\\", "%@", "%K", "%d", "$x", "@count", "@sum", ".", ",", ":", "==",
        "!=",
        "<=", "BETWEEN", "IN", "ANY ", "ALL ", "NONE ", "NOT ", " AND ", " OR ", "SUBQUERY(", "TERNARY(", "CAST(",
        "nil",
        "self", "TRUEPREDICATE", "0x", "1e9", "9223372036854775808", "-", "**", "\\u00e9", "\\ud83c", "é", "🎵", "\0",
        "<entity name=\"A\">", "</entity>", "name=\"\"", "<!--", "-->", "&amp;", "&#0;", "<![CDATA[", "]]>",
        "parentEntity=\"A\"",
        "18446744073709551616", "9007199254740992", "-1", "null", "true", "\"ph\":\"X\"", "\"args\":{", "},\n{",
        "attributeType=\"Integer 64\"", "defaultValueString=\"1e400\"", "YES", "<!DOCTYPE x [<!ENTITY a \"b\">]>",
    ].map { Array($0.utf8) }

    /// Predicates that use the whole language.
    static let formats: [[UInt8]] = [
        "price == 3", "name BEGINSWITH[cd] 'a' AND NOT (amount > 2 || amount <= 1)", "price BETWEEN {1, 2 + 3}",
        "name IN {'a', \"b\", nil}", "ANY tags.label == 'x' OR NONE tags.label LIKE[c] 'y*'",
        "items.@sum.price >= category.items.@avg.price",
        "SUBQUERY(items, $i, $i.price > 3 AND ANY $i.tags == $t).@count > 0",
        "price * (2 + 1) > -2 ** 3 ** 2 - abs(-5)", "modulus:by:(amount, 2) == 1", "date > CAST(5, 'NSDate') - 86400",
        "TERNARY(price > 3, name, 'x') == 'y'", "%K == %@ AND %d < 3", "$FETCH_SOURCE.alias == author",
        "FUNCTION(name, 'uppercaseString') MATCHES '[a-z]+\\\\d'", "items[SIZE] > 0x1F",
        "#size == 3 AND a.#first.b != 0b1",
        "id == CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')", "TRUEPREDICATE OR SELF IN $list", "x == 1.5e-3",
        "name == \"\\u00e9\\n\\\"\"", "bitwiseAnd:with:(a, 3) == onesComplement:(b)", "'ell' IN name AND now() > d",
    ].map { Array($0.utf8) }
}
