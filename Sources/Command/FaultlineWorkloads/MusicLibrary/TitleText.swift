import FaultlineStore

/// Normalizes titles for searching, which ignores case and diacritics.
enum TitleText {
    static let options: TextOptions = [.caseInsensitive, .diacriticInsensitive]

    static func folded(_ title: String) -> String { options.fold(title) }

    /// The distinct words of a title, normalized.
    static func words(_ title: String) -> Set<String> {
        Set(folded(title).split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }

    /// Whether one of a title's words begins with a normalized text.
    static func hasWord(beginningWith text: String, in title: String) -> Bool {
        words(title).contains { $0.utf8.starts(with: text.utf8) }
    }
}
