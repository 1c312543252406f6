import FaultlineRecorder
import FaultlineWorkloads
import Foundation
import SharedData
import Testing

@Suite("Every form of the music library shows the same results")
struct MusicFormsTests {
    /// The forms without flaws, with each of them, and with all.
    static let forms: [MusicLibraryFlaws] = [[]] + MusicLibraryFlaws.named.map(\.flaw) + [.all]

    private func outcome(
        _ flaws: MusicLibraryFlaws, rows: Int, of database: MusicDatabase
    ) throws -> MusicLibrary.Outcome {
        let store = try database.prepare(flaws, rows: rows)
        return try MusicLibrary(MusicLibraryForm(visibleRows: rows, flaws: flaws), at: store, recorder: .off()).run()
    }

    @Test("for Chinook", .enabled(if: SharedData.exists, "\(SharedData.need)"), arguments: [7, 20])
    func chinook(rows: Int) throws {
        let outcomes = try Self.forms.map { flaws in
            let form = MusicLibraryForm(visibleRows: rows, flaws: flaws)
            return try MusicLibrary(form, at: ChinookStores.store(for: flaws), recorder: .off()).run()
        }
        #expect(Set(outcomes).count == 1)
        #expect(outcomes[0].screens > 80 && outcomes[0].rows > 500)
    }

    @Test("for titles that are difficult to search", arguments: [1, 3, 20, 1000])
    func odd(rows: Int) throws {
        let database = try MusicDatabase.odd()
        let outcomes = try Self.forms.map { try outcome($0, rows: rows, of: database) }
        #expect(Set(outcomes).count == 1)
        #expect(outcomes[0].rows > 40)
    }

    @Test("for an empty database")
    func empty() throws {
        let database = try MusicDatabase(MusicDatabase.tables)
        let outcomes = try Self.forms.map { try outcome($0, rows: 20, of: database) }
        #expect(Set(outcomes).count == 1)
    }

    @Test("which depend on every title")
    func sensitive() throws {
        let database = try MusicDatabase.odd()
        let before = try outcome([], rows: 20, of: database)
        let other = try MusicDatabase.odd()
        _ = try MusicDatabase.values("UPDATE Track SET Name = 'Solução' WHERE Name = 'Soluço''s'", in: other.url)
        let after = try outcome([], rows: 20, of: other)
        #expect(after.checksum != before.checksum)
        #expect(try outcome(.all, rows: 20, of: other) == after)
    }

    @Test("and each flaw has a name of its own")
    func names() {
        let named = MusicLibraryFlaws.named
        #expect(named.map(\.name) == ["album", "search", "count", "sum", "lookup"])
        #expect(named.reduce(into: MusicLibraryFlaws()) { $0.formUnion($1.flaw) } == .all)
        #expect(Set(named.map(\.flaw.rawValue)).count == named.count)
    }
}
