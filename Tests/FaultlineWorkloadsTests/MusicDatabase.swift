import CSQLite
import FaultlineWorkloads
import Foundation
import SharedData
import TestFolders

/// A database in a folder of its own, to import music libraries from.
final class MusicDatabase {
    let folder: URL
    let url: URL

    struct Failure: Error {
        var message: String
    }

    /// Returns Chinook's own database, which is only read.
    static func chinook() throws -> MusicDatabase {
        try MusicDatabase(SharedData.url("chinook/Chinook_Sqlite.sqlite"))
    }

    /// Creates a database by running statements, which create and fill Chinook's tables.
    init(_ statements: [String]) throws {
        folder = try Self.makeFolder()
        url = folder.appendingPathComponent("Music.sqlite")
        for statement in statements { try Self.run(statement, url) }
    }

    private init(_ url: URL) throws {
        folder = try Self.makeFolder()
        self.url = url
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private static func makeFolder() throws -> URL {
        let folder = try TestFolder.make()
        return folder
    }

    /// Returns the URL of a store.
    func store(_ name: String = "Library") -> URL { folder.appendingPathComponent("\(name).sqlite") }

    /// Imports the database into a music library.
    func prepare(_ flaws: MusicLibraryFlaws, rows: Int = 20) throws -> URL {
        let store = store("Library \(flaws.rawValue) \(rows)")
        try MusicLibrary.prepare(MusicLibraryForm(visibleRows: rows, flaws: flaws), from: url, at: store)
        return store
    }

    /// Returns the first column of a query's rows, as text.
    static func values(_ sql: String, in url: URL) throws -> [String] {
        var values: [String] = []
        try run(sql, url) { statement in
            guard let text = sqlite3_column_text(statement, 0) else { return values.append("NULL") }
            let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, 0)))
            values.append(String(decoding: bytes, as: UTF8.self))
        }
        return values
    }

    private static func run(_ sql: String, _ url: URL, _ row: (OpaquePointer) -> Void = { _ in }) throws {
        var connection: OpaquePointer?
        var statement: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard sqlite3_open(url.path, &connection) == SQLITE_OK,
            sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement
        else { throw Failure(message: "\(sql): \(String(cString: sqlite3_errmsg(connection)))") }
        defer { sqlite3_finalize(statement) }
        while sqlite3_step(statement) == SQLITE_ROW { row(statement) }
    }
}

extension MusicDatabase {
    static let tables = [
        "CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name NVARCHAR(120))",
        "CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title NVARCHAR(160), ArtistId INTEGER)",
        "CREATE TABLE Genre (GenreId INTEGER PRIMARY KEY, Name NVARCHAR(120))",
        "CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Name NVARCHAR(200), AlbumId INTEGER, GenreId INTEGER, "
            + "Composer NVARCHAR(220), Milliseconds INTEGER)",
        "CREATE TABLE Playlist (PlaylistId INTEGER PRIMARY KEY, Name NVARCHAR(120))",
        "CREATE TABLE PlaylistTrack (PlaylistId INTEGER, TrackId INTEGER)",
    ]

    /// Titles that are difficult to search.
    static let oddTitles = [
        "Águas de Março", "aguas", "A\u{301}gua", "So", "só", "SÓLO", "S\u{6f}\u{301} (Live)", "Soluço's", "",
        "  ", "love", "Glove", "self-love", "LOVE/hate", "l\u{f8}ve", "Corac\u{327}a\u{303}o", "coração", "não-não",
        "Straße", "STRASSE", "İstanbul", "ﬁn", "日本 love", "🎵 love 🎵", "\u{10ffff}", "The The", "the\0 end", "THÉ",
        "you're", "de de de", "M", "µ", "\u{e1}", "Z", "rock'n'roll", "ＲＯＣＫ",
    ]

    /// Returns a few artists, albums and playlists with difficult titles, and with values missing where they may be.
    static func odd() throws -> MusicDatabase {
        var statements =
            tables + [
                "INSERT INTO Artist VALUES (1, 'Antônio Carlos Jobim'), (2, NULL), (-3, '🎸\"'), (9223372036854775807, '')",
                "INSERT INTO Genre VALUES (1, 'Bossa Nova'), (2, NULL)",
                "INSERT INTO Playlist VALUES (1, 'Todas'), (2, NULL), (3, 'Ímpar')",
            ]
        for album in 1...15 {
            let artist = album % 4 == 0 ? "NULL" : album % 2 == 0 ? "-3" : "1"
            statements.append("INSERT INTO Album VALUES (\(album), 'Disco n.º \(album % 7)', \(artist))")
        }
        for (place, title) in oddTitles.enumerated() {
            // As a blob, because a literal ends at a NUL.
            let bytes = title.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let album = place % 5 == 0 ? "NULL" : String(place % 15 + 1)
            let genre = place % 7 == 0 ? "NULL" : String(place % 2 + 1)
            statements.append(
                "INSERT INTO Track VALUES (\(place * 3 - 6), CAST(x'\(bytes)' AS TEXT), \(album), \(genre), "
                    + "NULL, \(place * 61_000))")
        }
        statements += [
            "INSERT INTO PlaylistTrack SELECT 1, TrackId FROM Track",
            "INSERT INTO PlaylistTrack SELECT 3, TrackId FROM Track WHERE TrackId % 2 = 1",
        ]
        return try MusicDatabase(statements)
    }
}
