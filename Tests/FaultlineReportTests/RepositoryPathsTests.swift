import FaultlineTrace
import Testing

@testable import FaultlineReport

@Suite("The paths of a repository")
struct RepositoryPathsTests {
    private let sources = RepositoryPaths(paths: [
        "Sources/Groceries/Screens/List.swift", "Sources/Groceries/Model.swift", "Sources/Store/Model.swift",
        "Sources/Store/SQL/Statement.swift", "Tests/Store/SQL/Statement.swift", "app/views.py", "shop/views.py",
        "main.c",
    ])

    @Test(arguments: [
        // A module and a file.
        ("Groceries/List.swift", "Sources/Groceries/Screens/List.swift"),
        ("Groceries/Model.swift", "Sources/Groceries/Model.swift"), ("Store/Model.swift", "Sources/Store/Model.swift"),
        // Paths of another machine.
        ("/build/x/Sources/Groceries/Screens/List.swift", "Sources/Groceries/Screens/List.swift"),
        ("/srv/www/shop/views.py", "shop/views.py"),
        ("/tmp/b/Sources/Store/SQL/Statement.swift", "Sources/Store/SQL/Statement.swift"),
        // A name alone.
        ("main.c", "main.c"), ("List.swift", "Sources/Groceries/Screens/List.swift"),
    ])
    func `A file is found by its module or by the end of its path`(recorded: String, path: String) {
        #expect(sources.path(of: recorded) == path)
    }

    @Test(arguments: [
        "Other/Model.swift", "Store/Statement.swift", "views.py", "/lib/python3/views.py", "Groceries/New.swift", "",
        "/", "/usr/src/main.c", "<string>",
    ])
    func `A file that none or several could be keeps its name`(recorded: String) {
        #expect(sources.path(of: recorded) == recorded)
    }
}
