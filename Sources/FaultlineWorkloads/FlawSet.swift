/// The flaws of a sample app, which can be switched on individually.
public protocol FlawSet: OptionSet, Sendable {
    /// The flaws with their names on the command line.
    static var named: [(name: String, flaw: Self)] { get }
    static var all: Self { get }
}

extension GroceriesFlaws: FlawSet {}
extension MusicLibraryFlaws: FlawSet {}
