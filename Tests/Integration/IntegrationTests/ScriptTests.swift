import Foundation
import TestFolders
import Testing

/// Interpreters on this machine that have SQLite.
private enum Interpreters {
    static let canRun = ["/usr/bin/php", "/usr/bin/ruby"].allSatisfy {
        let words =
            $0.hasSuffix("php")
            ? ["-r", "exit(extension_loaded('pdo_sqlite') ? 0 : 1);"] : ["-e", "require 'sqlite3'"]
        return (try? BuiltCommand.run(words, program: $0).status) == 0
    }
}

@Suite(
    "Statements of PHP and Ruby programs have the lines of the scripts",
    .enabled(if: Interpreters.canRun, "needs php-sqlite3 and ruby-sqlite3: make test-commands"))
struct ScriptTests {
    @Test(
        "A stack has the functions of a Ruby script and the line of a PHP script, and the finding names the line",
        arguments: [
            (
                "php",
                """
                <?php
                class Shop {
                    public $db;
                    function author($id) {
                        $found = $this->db->prepare("SELECT name FROM author WHERE id = ?");
                        $found->execute([$id]);
                        return $found->fetch();
                    }
                    function books() {
                        for ($id = 0; $id < 40; $id++) { $this->author($id); }
                    }
                }
                $shop = new Shop();
                $shop->db = new PDO("sqlite::memory:");
                $shop->db->exec("CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT)");
                $shop->books();

                """, ["app.php:6 "]
            ),
            (
                "ruby",
                """
                require "sqlite3"
                class Shop
                  def initialize
                    @db = SQLite3::Database.new(":memory:")
                    @db.execute("CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT)")
                  end
                  def author(id) = @db.execute("SELECT name FROM author WHERE id = ?", [id])
                  def books
                    (0...40).each { |id| author(id) }
                  end
                end
                Shop.new.books

                """,
                [
                    "app.rb:7 Shop#author", "app.rb:9 Shop#books", "app.rb:9 Shop#books", "app.rb:12 <main>",
                ]
            ),
        ])
    func lines(language: String, script: String, callers: [String]) throws {
        let directory = try TemporaryDirectory()
        let file = directory.path(language == "php" ? "app.php" : "app.rb")
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        var run = try ObservedRun([file], program: "/usr/bin/\(language)")
        try #require(run.result.status == 0, "\(run.result.errors)")
        #expect(Set(run.callers(of: "SELECT name FROM author WHERE id = ?")) == [callers])
        let trace = directory.path("trace.json")
        let recorded = try BuiltCommand.run(["record", "--quiet", "-o", trace, "--", "/usr/bin/\(language)", file])
        try #require(recorded.status == 0, "\(recorded.errors)")
        let finding = try #require(try ReportDocument(of: trace).findings.first { $0.rule == "R27" })
        #expect(finding.seenAt.first?.site?.text == callers[0].split(separator: " ").first.map(String.init))
    }

    @Test("The script's own output and exit status stay as they are", arguments: ["php", "ruby"])
    func unchanged(language: String) throws {
        let words =
            language == "php"
            ? ["-r", "$db = new SQLite3(':memory:'); echo $db->querySingle('SELECT 6 * 7'); exit(3);"]
            : ["-r", "sqlite3", "-e", "print SQLite3::Database.new(':memory:').execute('SELECT 6 * 7')[0][0]; exit 3"]
        let run = try ObservedRun(words, program: "/usr/bin/\(language)")
        #expect(run.result.status == 3 && run.result.output == "42")
        #expect(run.statements.contains { $0.text == "SELECT ? * ?" })
    }
}
