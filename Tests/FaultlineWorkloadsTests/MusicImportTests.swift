import Foundation
import SharedData
import Testing

@testable import FaultlineWorkloads

@Suite("A music library is imported from a Chinook database")
struct MusicImportTests {
    /// Both sides of the import: a query of the database and one of the store that must return the same rows.
    static let sameRows: [(database: String, store: String)] = [
        ("SELECT COUNT(*) FROM Artist", "SELECT COUNT(*) FROM ZARTIST"),
        ("SELECT COUNT(*) FROM Album", "SELECT COUNT(*) FROM ZALBUM"),
        ("SELECT COUNT(*) FROM Genre", "SELECT COUNT(*) FROM ZGENRE"),
        ("SELECT COUNT(*) FROM Track", "SELECT COUNT(*) FROM ZTRACK"),
        ("SELECT COUNT(*) FROM Playlist", "SELECT COUNT(*) FROM ZPLAYLIST"),
        ("SELECT COUNT(*) FROM PlaylistTrack", "SELECT COUNT(*) FROM ZPLAYLISTENTRY"),
        (
            "SELECT ArtistId || ' ' || IFNULL(Name, '') FROM Artist ORDER BY ArtistId",
            "SELECT ZNUMBER || ' ' || ZNAME FROM ZARTIST ORDER BY ZNUMBER"
        ),
        (
            "SELECT AlbumId || ' ' || Title || ' ' || IFNULL(ArtistId, 'none') FROM Album ORDER BY AlbumId",
            """
            SELECT a.ZNUMBER || ' ' || a.ZTITLE || ' ' || IFNULL(b.ZNUMBER, 'none')
            FROM ZALBUM a LEFT JOIN ZARTIST b ON a.ZARTIST = b.Z_PK ORDER BY a.ZNUMBER
            """
        ),
        ("SELECT Name FROM Track ORDER BY TrackId", "SELECT ZTITLE FROM ZTRACK ORDER BY ZNUMBER"),
        (
            """
            SELECT TrackId || ' ' || IFNULL(AlbumId, 'none') || ' ' || IFNULL(GenreId, 'none') || ' '
                || IFNULL(Composer, 'none') || ' ' || Milliseconds
            FROM Track ORDER BY TrackId
            """,
            """
            SELECT t.ZNUMBER || ' ' || IFNULL(a.ZNUMBER, 'none') || ' ' || IFNULL(g.ZNUMBER, 'none') || ' '
                || IFNULL(t.ZCOMPOSER, 'none') || ' ' || t.ZMILLISECONDS
            FROM ZTRACK t LEFT JOIN ZALBUM a ON t.ZALBUM = a.Z_PK LEFT JOIN ZGENRE g ON t.ZGENRE = g.Z_PK
            ORDER BY t.ZNUMBER
            """
        ),
        (
            "SELECT PlaylistId || ' ' || TrackId FROM PlaylistTrack ORDER BY PlaylistId, TrackId",
            """
            SELECT p.ZNUMBER || ' ' || t.ZNUMBER FROM ZPLAYLISTENTRY e
            JOIN ZPLAYLIST p ON e.ZPLAYLIST = p.Z_PK JOIN ZTRACK t ON e.ZTRACK = t.Z_PK
            ORDER BY p.ZNUMBER, t.ZNUMBER
            """
        ),
        (
            "SELECT COUNT(*) FROM Album GROUP BY ArtistId HAVING ArtistId NOT NULL ORDER BY ArtistId",
            "SELECT ZALBUMCOUNT FROM ZARTIST WHERE ZALBUMCOUNT > 0 ORDER BY ZNUMBER"
        ),
    ]

    private func expectSameRows(_ database: MusicDatabase, _ store: URL) throws {
        for (original, copy) in Self.sameRows {
            let rows = try MusicDatabase.values(original, in: database.url)
            #expect(!rows.isEmpty)
            #expect(try MusicDatabase.values(copy, in: store) == rows, "\(original)")
        }
    }

    @Test(
        "row by row", .enabled(if: SharedData.exists, "\(SharedData.need)"),
        arguments: [.all, []] as [MusicLibraryFlaws])
    func chinook(flaws: MusicLibraryFlaws) throws {
        let database = try MusicDatabase.chinook()
        let bytes = try Data(contentsOf: database.url)
        let beside = try FileManager.default.contentsOfDirectory(
            atPath: database.url.deletingLastPathComponent().path)
        let store = try database.prepare(flaws)
        try expectSameRows(database, store)
        let counts = try ["ZTRACK", "ZALBUM", "ZPLAYLISTENTRY"].flatMap {
            try MusicDatabase.values("SELECT COUNT(*) FROM \($0)", in: store)
        }
        #expect(counts == ["3503", "347", "8715"])
        #expect(
            try MusicDatabase.values("SELECT ZNAME FROM ZARTIST WHERE ZNAME LIKE 'Ant%Jobim'", in: store)
                == ["Antônio Carlos Jobim"])
        #expect(try Data(contentsOf: database.url) == bytes, "the database is as it was")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: database.url.deletingLastPathComponent().path)
                == beside)
    }

    @Test("with names in any Unicode and with missing values", arguments: [.all, []] as [MusicLibraryFlaws])
    func odd(flaws: MusicLibraryFlaws) throws {
        let database = try MusicDatabase.odd()
        let store = try database.prepare(flaws)
        try expectSameRows(database, store)
        #expect(
            try MusicDatabase.values("SELECT ZTITLE FROM ZTRACK ORDER BY ZNUMBER", in: store)
                == MusicDatabase.oddTitles)
    }

    @Test("with an order in each playlist that mixes its albums, the same each time")
    func order() throws {
        let database = try MusicDatabase.odd()
        let order = """
            SELECT t.ZNUMBER FROM ZPLAYLISTENTRY e JOIN ZPLAYLIST p ON e.ZPLAYLIST = p.Z_PK
            JOIN ZTRACK t ON e.ZTRACK = t.Z_PK WHERE p.ZNUMBER = 1 ORDER BY e.ZPOSITION
            """
        let first = try MusicDatabase.values(order, in: database.prepare(.all))
        #expect(first.count == MusicDatabase.oddTitles.count)
        #expect(first != first.sorted { (Int($0) ?? 0) < (Int($1) ?? 0) })
        #expect(try MusicDatabase.values(order, in: database.prepare([])) == first)
        #expect(try MusicDatabase.values(order, in: database.prepare(.all)) == first, "in place of the first")
    }

    @Test("with the folded words of each title, once per song")
    func words() throws {
        let database = try MusicDatabase.odd()
        let store = try database.prepare([])
        let words = try MusicDatabase.values("SELECT ZTEXT FROM ZTITLEWORD ORDER BY ZTEXT", in: store)
        #expect(Set(words).count == words.count)
        for word in ["aguas", "marco", "love", "live", "glove", "self", "hate", "nao", "coracao", "roll", "日本"] {
            #expect(words.contains(word), "\(word)")
        }
        let join = try MusicDatabase.values("SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*S'", in: store)
        try #require(join.count == 1)
        let pairs = MusicDatabase.oddTitles.reduce(0) { $0 + TitleText.words($1).count }
        #expect(try MusicDatabase.values("SELECT COUNT(*) FROM \(join[0])", in: store) == [String(pairs)])
    }

    @Test(
        "whose words are separated by anything but letters and digits",
        arguments: [
            ("Só (Live) '98", ["98", "live", "so"]), ("  ", []), ("Rock'n'Roll, rock", ["n", "rock", "roll"]),
            ("日本の歌", ["日本の歌"]), ("№5, Straße", ["5", "strasse"]),
        ])
    func splitting(_ title: String, _ words: [String]) {
        #expect(TitleText.words(title).sorted() == words)
    }

    // MARK: - Databases that cannot be read

    /// Flaws of a database, and the error message for each.
    static let wrong: [(without: [String], also: [String], message: String)] = [
        (
            ["CREATE TABLE Genre (GenreId INTEGER PRIMARY KEY, Name NVARCHAR(120))"], [],
            "it lacks the table Genre; name a file that has Chinook's tables."
        ),
        (
            tables("Artist", "Track", "Playlist"), [],
            "it lacks the tables Artist, Track and Playlist; name a file that has Chinook's tables."
        ),
        (
            tables("Track"), ["CREATE TABLE Track (TrackId INTEGER, Name, AlbumId, GENREID, Composer)"],
            "it lacks the column Track.Milliseconds; name a file that has Chinook's tables."
        ),
        (
            tables("Album", "Track", "PlaylistTrack"),
            [
                "CREATE TABLE Track (TrackId INTEGER, Milliseconds)",
                "CREATE TABLE Album (AlbumId INTEGER, Title, Artist)",
            ],
            "it lacks the table PlaylistTrack, and the columns Album.ArtistId, Track.Name, Track.AlbumId, Track.GenreId and Track.Composer; name a file that has Chinook's tables."
        ),
        (
            [], ["INSERT INTO Album VALUES (4, 'Title', 7)"],
            "Album 4 refers to Artist 7, which does not exist; get the file again."
        ),
        (
            [], ["INSERT INTO Track VALUES (1, 'Title', 2, NULL, NULL, 5)"],
            "Track 1 refers to Album 2, which does not exist; get the file again."
        ),
        (
            [], ["INSERT INTO Track VALUES (1, 'Title', NULL, 3, NULL, 5)"],
            "Track 1 refers to Genre 3, which does not exist; get the file again."
        ),
        (
            [], ["INSERT INTO PlaylistTrack VALUES (5, 6)"],
            "a PlaylistTrack refers to Playlist 5, which does not exist; get the file again."
        ),
        (
            [], ["INSERT INTO Playlist VALUES (5, 'Mine')", "INSERT INTO PlaylistTrack VALUES (5, 6)"],
            "a PlaylistTrack refers to Track 6, which does not exist; get the file again."
        ),
        (
            [], ["INSERT INTO Track VALUES (1, 'Title', NULL, NULL, NULL, -1)"],
            "Track 1 has an impossible duration of -1 milliseconds; get the file again."
        ),
        (
            [], ["INSERT INTO Track VALUES (1, 'Title', NULL, NULL, NULL, 2147483648)"],
            "Track 1 has an impossible duration of 2147483648 milliseconds; get the file again."
        ),
    ]

    private static func tables(_ names: String...) -> [String] {
        MusicDatabase.tables.filter { table in names.contains { table.hasPrefix("CREATE TABLE \($0) ") } }
    }

    private func failure(_ database: URL, at store: URL) -> String {
        do {
            try MusicLibrary.prepare(MusicLibraryForm(visibleRows: 20, flaws: []), from: database, at: store)
            return "no failure"
        } catch {
            return "\(error)"
        }
    }

    @Test("or an error names what the database lacks", arguments: wrong)
    func lacking(_ without: [String], _ also: [String], _ message: String) throws {
        let database = try MusicDatabase(MusicDatabase.tables.filter { !without.contains($0) } + also)
        #expect(
            failure(database.url, at: database.store())
                == "The music database \"\(database.url.path)\" cannot be read: \(message)")
        #expect(!FileManager.default.fileExists(atPath: database.store().path))
    }

    @Test("even if its tables are empty")
    func empty() throws {
        let database = try MusicDatabase(MusicDatabase.tables)
        #expect(failure(database.url, at: database.store()) == "no failure")
    }

    /// Files that are not databases, with the error message for each.
    static let noDatabases: [(make: @Sendable (URL) throws -> Void, message: String)] = [
        ({ _ in }, "there is no such file; check the path."),
        (
            { try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false) },
            "it is a folder; name a file in it."
        ),
        ({ mkfifo($0.path, 0o600) }, "it is not a regular file; name one."),
        (
            { try Data(String(repeating: "no database ", count: 100).utf8).write(to: $0) },
            "it is not an SQLite database; name Chinook's SQLite file."
        ),
        (
            { try Data().write(to: $0) },
            "it lacks the tables Artist, Album, Genre, Track, Playlist and PlaylistTrack; name a file that has Chinook's tables."
        ),
    ]

    @Test("or an error says what the file is instead, and an existing store is kept", arguments: noDatabases.indices)
    func noDatabase(_ index: Int) throws {
        let good = try MusicDatabase(MusicDatabase.tables)
        let store = try good.prepare([])
        let before = try Data(contentsOf: store)
        let url = good.folder.appendingPathComponent("other.sqlite")
        let (make, message) = Self.noDatabases[index]
        try make(url)
        #expect(failure(url, at: store) == "The music database \"\(url.path)\" cannot be read: \(message)")
        #expect(try Data(contentsOf: store) == before)
    }

    @Test("or SQLite's error is reported if the database is damaged")
    func damaged() throws {
        let database = try MusicDatabase.odd()
        var bytes = try Data(contentsOf: database.url)
        bytes.replaceSubrange(4096..., with: Data(repeating: 0xee, count: bytes.count - 4096))
        try bytes.write(to: database.url)
        #expect(
            failure(database.url, at: database.store())
                == "The music database \"\(database.url.path)\" cannot be read: SQLite reports \"database disk image is malformed\" (code 11); try again, or get the file again."
        )
    }

    @Test("and never replaces the database")
    func samePlace() throws {
        let database = try MusicDatabase.odd()
        let bytes = try Data(contentsOf: database.url)
        let link = database.folder.appendingPathComponent("link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: database.url)
        let roundabout = database.folder.appendingPathComponent("../\(database.folder.lastPathComponent)/Music.sqlite")
        for store in [database.url, link, roundabout] {
            #expect(
                failure(database.url, at: store)
                    == "The music database \"\(database.url.path)\" cannot be imported into a store at the same path, which would replace it; name another file for the store."
            )
        }
        #expect(try Data(contentsOf: database.url) == bytes)
    }
}
