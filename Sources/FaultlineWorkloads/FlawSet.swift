/// The flaws of a sample app, each of which can be switched on.
public protocol FlawSet: OptionSet, Sendable {
    /// The flaws with the names by which the command line knows them.
    static var named: [(name: String, flaw: Self)] { get }
    static var all: Self { get }
}

extension GroceriesFlaws: FlawSet {}
extension MusicLibraryFlaws: FlawSet {}
