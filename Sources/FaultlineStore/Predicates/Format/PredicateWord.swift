/// The words of the predicate format that are no names, and how names and texts are written that look like them.
enum PredicateWord: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case isIn = "IN"
    case between = "BETWEEN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
    case matches = "MATCHES"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"
    case null = "NULL"
    case nilWord = "NIL"
    case trueWord = "TRUE"
    case yes = "YES"
    case falseWord = "FALSE"
    case no = "NO"
    case itself = "SELF"
    case first = "FIRST"
    case last = "LAST"
    case size = "SIZE"
    case cast = "CAST"
    case function = "FUNCTION"
    case subquery = "SUBQUERY"
    case ternary = "TERNARY"
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
    case anyKey = "ANYKEY"

    private static let byText = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// The word that a name is, in whatever case; `nil`: it is none.
    init?(_ name: some StringProtocol) {
        guard name.utf8.count <= 14, let word = Self.byText[name.uppercased()] else { return nil }
        self = word
    }

    /// A name as it must be written to be read as one: `#size`.
    static func escaped(_ name: String) -> String {
        PredicateWord(name) == nil ? name : "#\(name)"
    }

    /// A text in double quotes.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
