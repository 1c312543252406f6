/// The reserved words of the predicate format, and the escaping of names and strings.
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

    /// Finds the reserved word for a name, ignoring case; `nil` if the name is not reserved.
    init?(_ name: some StringProtocol) {
        guard name.utf8.count <= 14, let word = Self.byText[name.uppercased()] else { return nil }
        self = word
    }

    /// Escapes a name that is a reserved word: `#size`.
    static func escaped(_ name: String) -> String {
        PredicateWord(name) == nil ? name : "#\(name)"
    }

    /// Encloses a string in double quotes, with escapes.
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
