import Foundation
import Testing

@Suite("The demo of migrations")
struct MigrationDemoTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("records three ways that give the same store, and advises against the needless mapping model")
    func demo() throws {
        let output = directory.path("demo")
        let result = try BuiltCommand.run(["demo", "migration", "--readings", "10000", "--output", output])
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        for heading in [
            "inferred, by the container: 10,000 readings", "a mapping model, by a manager: 10,000 readings",
            "a mapping model with a policy: 10,000 readings", "The same store, three ways",
        ] {
            #expect(result.output.contains("\n\(heading)\n"))
        }
        #expect(result.output.contains("\nThe stores and traces are in \(output).\n"))
        let query = "SELECT count(*), sum(ZCELSIUS), sum(ZSTATION), sum(Z_PK) FROM ZREADING"
        let stores = try ["inferred", "mapping", "policy"].map {
            try SQLiteFile.row(query, of: output + "/\($0).sqlite")
        }
        #expect(Set(stores).count == 1)
        // The other ways give each reading the default value.
        let qualities = "SELECT count(DISTINCT ZQUALITY) FROM ZREADING"
        #expect(try SQLiteFile.row(qualities, of: output + "/inferred.sqlite") == ["1"])
        #expect(try SQLiteFile.row(qualities, of: output + "/policy.sqlite") == ["2"])
        let rules = try ["inferred", "mapping", "policy"].map {
            try ReportDocument(of: output + "/\($0).json").findings.map(\.rule)
        }
        #expect(rules == [[], ["R32"], []])
        // It removes only what it wrote itself.
        let again = try BuiltCommand.run(["demo", "migration", "--readings", "10", "-o", output])
        #expect(again.status == 0)
        try Data().write(to: URL(fileURLWithPath: directory.path("other")))
        #expect(try BuiltCommand.run(["demo", "migration", "-o", directory.path("other")]).status == 2)
        #expect(try BuiltCommand.run(["demo", "migration", "--readings", "0"]).status == 2)
    }
}
