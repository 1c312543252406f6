import Foundation
import Testing

@Suite("faultline tree --by shape")
struct TreeGroupTests {
    private struct Tree: Decodable {
        struct Node: Decodable {
            var function: String
            var total: UInt64
        }
        var total: UInt64
        var roots: [Node]
    }

    private func roots(_ trace: String, _ weight: String) throws -> [String: UInt64] {
        let path = BuiltCommand.package.appendingPathComponent("Traces/\(trace)/trace.json").path
        let result = try BuiltCommand.run(
            ["tree", path, "--weight", weight, "--by", "shape", "--min-share", "0", "--format", "json"])
        try #require(result.status == 0, "\(result.errors)")
        let tree = try JSONDecoder().decode(Tree.self, from: Data(result.output.utf8))
        #expect(tree.roots.reduce(0) { $0 + $1.total } == tree.total)
        return Dictionary(uniqueKeysWithValues: tree.roots.map { ($0.function, $0.total) })
    }

    @Test("divides the tree by request, with the batches of a fetch, and by what else was asked for")
    func requests() throws {
        let rows = try roots("groceries-flawed", "rows")
        // 100 identities, and 100 rows in batches.
        #expect(rows["Item by name"] == 200)
        #expect(rows["fault of Item.locationAtHome"] == 48 && rows["fault of Item.locationAtShop"] == 4)
        #expect(rows.keys.contains { $0.hasPrefix("SELECT ") })
    }

    @Test("divides the tree by statement, where statements are outside any request")
    func statements() throws {
        let trips = try roots("n-plus-one", "trips")
        #expect(trips["Shelf by label"] == 1 && trips["fault of Shelf.books"] == 40)
        #expect(trips["save of Book, Shelf"] != nil)
    }
}
