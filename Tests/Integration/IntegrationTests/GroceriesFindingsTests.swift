import Testing

@Suite("The shopping list")
struct GroceriesFindingsTests {
    /// The items, the rows on a screen, and the batch size that fits the screen.
    static let forms = [
        (100, 6, 10), (100, 10, 15), (100, 20, 30), (10_000, 6, 10), (10_000, 10, 15), (10_000, 20, 30),
    ]

    @Test("with a batch size of 50 gets advice for the batch size that fits its screen", arguments: forms)
    func batchSize(items: Int, rows: Int, batch: Int) throws {
        let run = try GroceriesRun(items: items, rows: rows, flaws: "batch")
        #expect(run.problems.map(\.rule) == ["R02"])
        let finding = try #require(run.problems.first)
        #expect(finding.code == ["request.fetchBatchSize = \(batch)"])
        #expect(finding.change?.file.hasSuffix("Groceries.swift") == true)
        #expect(try finding.change?.line == GroceriesRun.line("context.fetch(request)", in: "Groceries.swift"))
    }

    @Test("with the photo in the row gets advice to move it, at the line that declares it", arguments: forms)
    func photo(items: Int, rows: Int, batch: Int) throws {
        let run = try GroceriesRun(items: items, rows: rows, flaws: "photo")
        #expect(run.problems.map(\.rule) == ["R09"])
        let finding = try #require(run.problems.first)
        #expect(finding.change?.file.hasSuffix("GroceriesModel.swift") == true)
        let declaration = #"AttributeDescription("photo", .binary)"#
        #expect(try finding.change?.line == GroceriesRun.line(declaration, in: "GroceriesModel.swift"))
    }

    @Test("with a location looked up per row gets advice to prefetch it, at the line of the fetch", arguments: forms)
    func location(items: Int, rows: Int, batch: Int) throws {
        let run = try GroceriesRun(items: items, rows: rows, flaws: "location")
        let finding = try #require(run.report.findings.first { $0.rule == "R01" })
        #expect(run.problems.allSatisfy { $0.rule == "R01" })
        // Forty-eight trips of a few microseconds cost about as much as looking up the locations of all rows, so the
        // finding may be a note and is never an error.
        #expect(finding.severity != "error")
        #expect(finding.code == [#"request.relationshipKeyPathsForPrefetching = ["unit", "locationAtHome"]"#])
        #expect(try finding.change?.line == GroceriesRun.line("context.fetch(request)", in: "Groceries.swift"))
    }

    @Test(
        "with views that keep their photo gets advice to make it a fault when they close",
        arguments: forms.filter { $0.0 / $0.1 >= 8 })
    func views(items: Int, rows: Int, batch: Int) throws {
        let run = try GroceriesRun(items: items, rows: rows, flaws: "views")
        #expect(run.problems.map(\.rule) == ["R25"])
        let finding = try #require(run.problems.first)
        #expect(finding.title == #"Turn ItemPhoto objects back into faults when the scope "item" closes"#)
        #expect(finding.code == ["context.refresh(object, mergeChanges: false)"])
        #expect(try finding.change?.line == GroceriesRun.line("outcome.show(photo.data", in: "Groceries.swift"))
    }

    @Test("without flaws has no warnings or errors", arguments: forms)
    func none(items: Int, rows: Int, batch: Int) throws {
        let run = try GroceriesRun(items: items, rows: rows, flaws: "none")
        #expect(run.problems.isEmpty, "\(run.problems)")
    }

    @Test("with all flaws has all four findings")
    func all() throws {
        let run = try GroceriesRun(items: 1000, rows: 10, flaws: "all")
        #expect(Set(run.problems.map(\.rule)).union(["R01"]) == ["R01", "R02", "R09", "R25"])
        #expect(run.report.findings.contains { $0.rule == "R01" })
    }
}
