import FaultlineStore

/// Titles as they are searched: without regard to case and diacritics.
enum TitleText {
    static let options: TextOptions = [.caseInsensitive, .diacriticInsensitive]

    static func folded(_ title: String) -> String { options.fold(title) }

    /// The words of a title, folded, each once.
    static func words(_ title: String) -> Set<String> {
        Set(folded(title).split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }

    /// Whether one of a title's words begins with a folded text.
    static func hasWord(beginningWith text: String, in title: String) -> Bool {
        words(title).contains { $0.utf8.starts(with: text.utf8) }
    }
}
