import Foundation
import Testing

/// Code that a user would naturally write compiles, and diagnostics of common mistakes lead to the right form.
@Suite("The compiler")
struct CompilerTests {
    private static let preamble = """
        import FaultlineModel
        import FaultlineStore
        import Foundation

        final class Shelf: ManagedObject {
            static let label = AttributeKey<String>("label")
            static let books = ToManyKey<Book>("books")
            static let order = OrderedToManyKey<Book>("order")
        }
        final class Book: ManagedObject {
            static let title = AttributeKey<String>("title")
        }

        """

    /// Compiles the body of a function that has a context, a shelf and a book, and returns the diagnostics.
    private func compile(_ body: String) throws -> (isAccepted: Bool, complaints: String) {
        let directory = try TemporaryDirectory()
        let source = directory.path("Program.swift")
        let function = "func program(_ context: ManagedObjectContext, _ shelf: Shelf, _ book: Book) async throws {\n"
        try (Self.preamble + function + body + "\n}\n").write(toFile: source, atomically: true, encoding: .utf8)
        let modules = BuiltCommand.programs.appendingPathComponent("Modules").path
        let result = try BuiltCommand.run(
            ["swiftc", "-typecheck", "-swift-version", "6", "-I", modules] + Self.options + [source],
            program: "/usr/bin/env")
        return (result.status == 0, result.errors)
    }

    /// The paths of the C modules that the store's modules depend on.
    private static let options: [String] = {
        let files = FileManager.default
        let folders = { (folder: URL) in
            (try? files.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        }
        let modules = folders(BuiltCommand.package.appendingPathComponent("Sources")).flatMap(folders)
            .filter { $0.lastPathComponent.hasPrefix("C") }
        let maps = modules.flatMap { module in
            [
                BuiltCommand.programs.appendingPathComponent("\(module.lastPathComponent).build/module.modulemap").path,
                module.appendingPathComponent("module.modulemap").path,
            ]
        }.filter(files.fileExists)
        return modules.flatMap { ["-Xcc", "-I" + $0.appendingPathComponent("include").path] }
            + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }()

    @Test(
        "accepts code that a user would naturally write",
        arguments: [
            """
            let request = FetchRequest<Book>(sortDescriptors: [.ascending("title")], fetchBatchSize: 30)
            let titles = try await context.perform { try context.fetch(request).map { $0[Book.title] } }
            print(titles)
            """,
            """
            let count = try context.performAndWait {
                let request = FetchRequest<Book>()
                return try context.fetch(request).count
            }
            print(count)
            """,
            """
            await context.perform { print(context.hasChanges) }
            context.performAndWait { print(context.hasChanges) }
            """,
            """
            let ids = try await context.perform { try context.fetch(FetchRequest<Book>()).map(\\.objectID) }
            try await context.perform {
                for id in ids { (context.object(with: id) as? Book)?[Book.title] = "read" }
                try context.save()
            }
            """,
        ])
    func natural(body: String) throws {
        let result = try compile(body)
        #expect(result.isAccepted, "\(result.complaints)")
    }

    @Test(
        "leads from a mistake to its correction",
        arguments: [
            (
                "let books = try context.performAndWait { try context.fetch(FetchRequest<Book>()) }\nprint(books)",
                "conformance of 'FetchResults<Object>' to 'Sendable' is unavailable: results belong to their context; pass the objects' IDs, or the values that you need"
            ),
            (
                "let book = try await context.perform { try context.fetch(FetchRequest<Book>())[0] }\nprint(book)",
                "conformance of 'ManagedObject' to 'Sendable' is unavailable: an object belongs to its context; pass its objectID, or the values that you need"
            ),
            ("shelf[Shelf.books].insert(book)", "'insert' has been renamed to 'add(_:)'"),
            ("shelf[Shelf.books].append(book)", "'append' has been renamed to 'add(_:)'"),
            ("shelf[Shelf.order].append(book)", "'append' has been renamed to 'add(_:)'"),
            (
                "Shelf.books.insert(book)",
                "'insert' is unavailable: a key is only a name; write 'object[key].add(member)'"
            ),
            ("Shelf.order.add(book)", "'add' is unavailable: a key is only a name; write 'object[key].add(member)'"),
        ])
    func mistakes(body: String, words: String) throws {
        let result = try compile(body)
        #expect(!result.isAccepted && result.complaints.contains("error: " + words), "\(result.complaints)")
    }
}
