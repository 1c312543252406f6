import FaultlineReader
import FaultlineTrace
import Testing

@Suite("A damaged or unusual Django log")
struct DjangoDamageTests {
    /// The output of Django 5.2 for strings of which two look like records.
    private static let strange = #"""
        (0.000) BEGIN; args=None; alias=default
        (0.004) INSERT INTO "shop_author" ("name") VALUES ('O''Brien'), ('semi; colon'), ('a
        b

        c'), ('100 % of %s'), ('Ünïcödé 📚'), ('back\slash\'''), ('fake; args=(1,); alias=default'), ('line
        (0.005) SELECT ''x'' FROM secret; args=(); alias=default
        end'), ('double "quotes"'), ('-- no comment /* none */'), (''), ('it''s
        (0.009) DELETE FROM "shop_book"; args=None; alias=default'), ('Author 0'); args=("O'Brien", 'semi; colon', 'a\nb\n\nc', '100 % of %s', 'Ünïcödé 📚', "back\\slash\\'", 'fake; args=(1,); alias=default', "line\n(0.005) SELECT 'x' FROM secret; args=(); alias=default\nend", 'double "quotes"', '-- no comment /* none */', '', 'it\'s\n(0.009) DELETE FROM "shop_book"; args=None; alias=default', 'Author 0'); alias=default
        rolled back: it's (0.100) RuntimeError; args=()
        (0.001) SELECT "a" FROM "t" WHERE "b" = 'O''Brien'; args=("O'Brien",); alias=default
        (0.000) COMMIT; args=None; alias=default

        """#
    private static let statements = [
        "transaction 0 BEGIN", #"write 4 INSERT INTO "shop_author" ("name") VALUES (?), …"#,
        #"read 1 SELECT "a" FROM "t" WHERE "b" = ?"#, "transaction 0 COMMIT",
    ]

    @Test("may contain strings that look like records")
    func strings() throws {
        let log = try DjangoText(Self.strange)
        #expect(log.statements == Self.statements)
        #expect(log.reading.summary.malformedLines == 0 && !log.reading.summary.isTruncated)
        #expect(try DjangoText(Self.strange.replacing("\n", with: "\r\n")).statements == Self.statements)
    }

    @Test("yields only correct statements when cut at any byte")
    func truncation() throws {
        let bytes = Array(Self.strange.utf8)
        let first = bytes.firstIndex(of: 0x0A) ?? 0
        for length in first...bytes.count {
            let found = try DjangoText(bytes.prefix(length)).statements
            #expect(Self.statements.starts(with: found), "\(length): \(found)")
        }
    }

    @Test("loses an incomplete record and no other")
    func breaks() throws {
        let good = DjangoText.record("SELECT a FROM t WHERE b = 'x'", "('x',)")
        let kept = "read 1 SELECT a FROM t WHERE b = ?"
        for broken in [
            "(0.001) SELECT a FROM t WHERE b = 'x", "(0.001) SELECT a FROM t WHERE", "(0.001) SELECT a; args=('x'",
            "(0.001) INSERT INTO t VALUES ('one\ntwo", "(0.001) SELECT \"a", "(0.001) SELECT a /* b",
            "(0.001) SELECT 1; args=(<it's>,); alias=default",
            "(0.001) SELECT 'a\n(0.001) SELECT 'b\n(0.001) SELECT 'c",
        ] {
            let log = try DjangoText(good + broken + "\n" + good + good)
            #expect(log.statements == [kept, kept, kept], "\(broken)")
            #expect(log.reading.summary.malformedLines == (broken.contains("'b") ? 3 : 1), "\(broken)")
            #expect(log.reading.summary.firstMalformed?.number == 2)
        }
        let end = try DjangoText(good + "(0.001) SELECT a FROM t WHERE b = 'x")
        #expect(
            end.reading.summary.isTruncated && end.reading.summary.firstMalformed?.reason == "its record breaks off")
    }

    @Test("may contain bytes that are not UTF-8, and lines of several megabytes")
    func bytes() throws {
        let good = Array(DjangoText.record("SELECT a FROM t WHERE b = 'x'").utf8)
        var strange = good
        strange.replace(Array("'x'".utf8), with: [0x27, 0xFF, 0xC0, 0x00, 0x80, 0x27])
        #expect(try DjangoText(good + strange + [0xFE, 0x28, 0x0A] + good).statements.count == 3)
        let long = Array("(0.001) INSERT INTO t VALUES ('".utf8) + [UInt8](repeating: 0x61, count: 17 << 20) + [0x0A]
        let log = try DjangoText(good + long + good)
        #expect(log.statements.count == 2 && log.reading.summary.malformedLines == 1)
    }

    @Test("never crashes the reader, whatever bytes are changed or missing")
    func changes() throws {
        let bytes = Array(Self.strange.utf8)
        var seed: UInt64 = 7
        func random(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % count
        }
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0..<random(6) { damaged[random(damaged.count)] = UInt8(random(256)) }
            let start = random(damaged.count)
            damaged.removeSubrange(start..<min(damaged.count, start + random(200)))
            let file = try TraceFile(damaged)
            do { _ = try file.read() } catch is ReaderError {}
        }
    }
}
