import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Budgets")
struct BudgetTests {
    private func budget(_ json: String) throws -> Budget { try Budget(json: Data(json.utf8)) }

    private func check(
        _ profile: Profile, _ json: String, baseline: Profile? = nil, today: String = "2026-11-22"
    ) throws -> BudgetCheck {
        BudgetCheck(Analysis(profile), budget: try budget(json), baseline: baseline.map { Analysis($0) }, today: today)
    }

    /// Three screens, with three, four and two fetches of ten rows each.
    private var profile: Profile { Profile(messages) }

    private var messages: [TraceMessage] {
        var groceries = Groceries()
        for times in [3, 4, 2] {
            groceries.scoped(.screen) { groceries in for _ in 0..<times { _ = groceries.fetch(rows: 10) } }
        }
        return groceries.trace.closed()
    }

    private var flawed: Profile {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100, site: groceries.trace.site(40, "list()"))
            for object in 1...60 { groceries.fault(UInt64(object), of: fetch) }
        }
        return Profile(groceries.trace.closed())
    }

    // MARK: - Limits

    @Test(arguments: [
        ("{\"total\":{\"trips\":9,\"rows\":90}}", true), ("{\"total\":{\"trips\":8}}", false),
        ("{\"total\":{\"rows\":89}}", false), ("{\"total\":{\"fetches\":9,\"cacheMisses\":0,\"saves\":0}}", true),
        ("{\"scopes\":{\"scroll\":{\"trips\":4,\"rows\":40}}}", true),
        ("{\"scopes\":{\"scroll\":{\"trips\":3}}}", false),
        ("{\"scopes\":{\"scroll\":{\"rows\":39}}}", false), ("{\"scopes\":{\"scroll\":{\"time\":\"1 s\"}}}", true),
        ("{\"scopes\":{\"scroll\":{\"time\":\"1ns\"}}}", false), ("{\"scopes\":{\"elsewhere\":{\"trips\":9}}}", false),
        ("{}", true),
    ])
    func `Met limits pass, and exceeded or unmeasured limits fail`(_ json: String, _ isPassed: Bool) throws {
        #expect(try check(profile, json).isPassed == isPassed)
    }

    @Test func `Limits apply to each of several merged traces`() throws {
        var sum = profile
        try sum.merge(profile)
        #expect(try check(sum, "{\"total\":{\"trips\":9}}").isPassed)
        #expect(try check(sum, "{\"scopes\":{\"scroll\":{\"trips\":4}}}").isPassed)
    }

    @Test func `A check fails if a part of the trace is damaged or missing`() throws {
        var partial = ProfileBuilder()
        for message in messages { partial.add(message) }
        partial.addUnread(1)
        let damaged = partial.finish()
        #expect(try !check(damaged, "{}").isPassed)
        let read = try Profile(fileData: damaged.fileData())
        #expect(try !check(read, "{}").isPassed && read.missing == 1)
        var builder = TraceBuilder()
        builder.event(.sql(TraceEvent.Statement()), duration: 10)
        #expect(try !check(Profile(builder.trace), "{}").isPassed)
        #expect(try check(Profile(builder.closed()), "{}").isPassed)
    }

    @Test func `A limit fails if the trace does not record what it limits`() throws {
        var builder = TraceBuilder()
        builder.event(.sql(TraceEvent.Statement()), duration: 10)
        let trace = [.began(ProcessBegan(process: 7, gaps: [TraceGap(.sizes)]))] + builder.closed().dropFirst()
        let profile = Profile(trace)
        #expect(try check(profile, "{\"total\":{\"trips\":9}}").isPassed)
        #expect(try !check(profile, "{\"total\":{\"bytesRead\":9}}").isPassed)
        // The duration of a scope that was never closed is unknown.
        var open = Groceries()
        open.scoped(.screen) { _ = $0.fetch(rows: 1) }
        let messages = open.trace.closed().filter {
            if case .event(let event) = $0, case .scope(let scope) = event.detail {
                scope.phase == .begin
            } else {
                true
            }
        }
        #expect(try check(Profile(messages), "{\"scopes\":{\"scroll\":{\"trips\":9}}}").isPassed)
        #expect(try !check(Profile(messages), "{\"scopes\":{\"scroll\":{\"time\":\"1 s\"}}}").isPassed)
    }

    @Test func `A check fails if events were lost, or none were recorded`() throws {
        var builder = TraceBuilder()
        builder.event(.sql(TraceEvent.Statement()), duration: 10)
        builder.add(.lost(EventLoss(process: 7, thread: 7, events: 3)))
        #expect(try !check(Profile(builder.closed()), "{\"total\":{\"trips\":9}}").isPassed)
        #expect(try !check(Profile(), "{}").isPassed)
    }

    @Test(
        arguments: [
            ("16 ms", 16_000_000), ("1.5s", 1_500_000_000), ("3 µs", 3000), ("3us", 3000), ("7 ns", 7),
        ] as [(String, UInt64)])
    func `Limits accept times with units`(_ text: String, _ nanoseconds: UInt64) throws {
        #expect(try budget("{\"total\":{\"storeTime\":\"\(text)\"}}").limits.map(\.value) == [nanoseconds])
    }

    @Test func `Limits accept sizes with units, or numbers of bytes`() throws {
        let limits = try budget("{\"total\":{\"bytesRead\":\"64 KiB\",\"bytesWritten\":7}}").limits
        #expect(limits.map(\.value) == [65_536, 7])
    }

    @Test(arguments: [
        ("[", "is not JSON (Unexpected end of file during JSON parse)"),
        ("{\n\"total\": 1 2}", "is not JSON (Invalid value around character 13, line 2)"),
        (#"{"total":{"trips":1,"trips":2}}"#, #"cannot be used: it has "total.trips" twice"#),
        (#"{"scopes":{"a":{},"b":{"rows":1},"\u0061":{}}}"#, #"cannot be used: it has "scopes.a" twice"#),
        (
            #"{"findings":{"ignore":[{"finding":"a"},{"finding":"\"}","finding":"b"}]}}"#,
            #"cannot be used: it has "findings.ignore.1.finding" twice"#
        ),
        ("[]", "cannot be used: it is not an object"),
        (
            "{\"scope\":{}}",
            "cannot be used: \"scope\" is not known here; use one of \"total\", \"scopes\", \"findings\""
        ),
        (
            "{\"scopes\":{\"list\":{\"trip\":1}}}",
            "cannot be used: \"scopes.list.trip\" is not known here; use one of \"trips\", \"rows\", \"time\""
        ),
        (
            "{\"scopes\":{\"list\":{\"trips\":-1}}}",
            "cannot be used: \"scopes.list.trips\" is not a whole number from 0 to 2^60"
        ),
        (
            "{\"scopes\":{\"list\":{\"time\":16}}}",
            "cannot be used: \"scopes.list.time\" is not a time, such as \"16 ms\""
        ),
        (
            "{\"total\":{\"bytesRead\":\"64 kB\"}}",
            "cannot be used: \"total.bytesRead\" is not a size, such as \"64 KiB\" or a number of bytes"
        ),
        (
            "{\"total\":{\"trips\":1.5}}",
            "cannot be used: \"total.trips\" is not a whole number from 0 to 2^60"
        ),
        (
            "{\"total\":{\"trips\":true}}",
            "cannot be used: \"total.trips\" is not a whole number from 0 to 2^60"
        ),
        ("{\"total\":1.5}", "cannot be used: \"total\" is not an object"),
        (
            "{\"findings\":{\"fail\":\"all\"}}",
            "cannot be used: \"findings.fail\" is not one of \"note\", \"warning\", \"error\", \"never\""
        ),
        (
            "{\"findings\":{\"ignore\":[{\"finding\":\"R01|x\"}]}}",
            "cannot be used: \"findings.ignore.0.reason\" is not a text that explains why the finding is suppressed"
        ),
        (
            "{\"findings\":{\"ignore\":[{\"finding\":\"R01|x\",\"reason\":\"y\",\"expires\":\"2027-13-01\"}]}}",
            "cannot be used: \"findings.ignore.0.expires\" is not a day, such as \"2027-06-30\""
        ),
    ])
    func `An invalid budget is rejected with the reason`(_ json: String, _ reason: String) {
        #expect(throws: BudgetError(reason: reason)) { try budget(json) }
    }

    // MARK: - Findings

    private func states(_ check: BudgetCheck) -> Set<String> { Set(check.findings.map(\.state.rawValue)) }

    @Test func `A finding fails unless the baseline has it or the budget lets no finding fail`() throws {
        let warnings = Analysis(flawed).findings.count { $0.severity > .note }
        #expect(warnings > 0)
        let check = try check(flawed, "{}")
        #expect(!check.isPassed && check.findings.count { $0.state == .fails } == warnings)
        #expect(try self.check(flawed, "{}", baseline: flawed).isPassed)
        #expect(try !self.check(flawed, "{}", baseline: profile).isPassed)
        #expect(try self.check(flawed, "{\"findings\":{\"fail\":\"never\"}}").isPassed)
    }

    @Test func `A suppression has a reason, and ends after its day`() throws {
        let signatures = Analysis(flawed).findings.map(\.signature)
        let accepted = { (expires: String) in
            let entries = signatures.map { "{\"finding\":\"\($0)\",\"reason\":\"seldom\"\(expires)}" }
            return "{\"findings\":{\"ignore\":[\(entries.joined(separator: ","))]}}"
        }
        let check = try check(flawed, accepted(""))
        #expect(check.isPassed && check.stale.isEmpty && states(check).contains("accepted"))
        let day = ",\"expires\":\"2026-11-22\""
        #expect(try self.check(flawed, accepted(day), today: "2026-11-22").isPassed)
        let later = try self.check(flawed, accepted(day), today: "2026-11-23")
        #expect(!later.isPassed && states(later).contains("expired"))
        // The suppressions no longer match a finding.
        #expect(try self.check(profile, accepted("")).stale.count == signatures.count)
    }

    // MARK: - Comments

    @Test func `A comment suppresses a rule's findings on its line or the next line with code`() throws {
        let source = """
            func list() {
                // faultline:ignore R02, R03 until 2027-06-30: opened once a year
                // and for the auditors only

                let request = fetch()
                save() // faultline:ignore R10: one click, one save
            }
            """
        let accepted = try Acceptance.inComments(of: source, file: "Sources/App/List.swift")
        let site = { (line: Int) in CallSite(file: "App/List.swift", line: line) }
        #expect(
            accepted == [
                Acceptance(subject: .line(site(5), rule: "R02"), reason: "opened once a year", expires: "2027-06-30"),
                Acceptance(subject: .line(site(5), rule: "R03"), reason: "opened once a year", expires: "2027-06-30"),
                Acceptance(subject: .line(site(6), rule: "R10"), reason: "one click, one save"),
            ])
    }

    @Test func `CRLF ends a line, and string literals and doc comments suppress nothing`() throws {
        let source =
            "let a = 1\r\n// faultline:ignore R02: why\r\nlet b = 2\r\n"
            + "let c = \"// faultline:ignore R02\"\r\n/// // faultline:ignore R03\r\n"
        let accepted = try Acceptance.inComments(of: source, file: "/App/List.swift")
        #expect(accepted.map(\.subject) == [.line(CallSite(file: "/App/List.swift", line: 3), rule: "R02")])
    }

    @Test(arguments: [
        ("shop/views.py", "def list():\n    # faultline:ignore R27: three authors\n    # at most\n    fetch()\n", 4),
        ("shop/views.py", "name = fetch('#', \"it's \\\" #\")  # faultline:ignore R27: three authors\n", 1),
        ("shop/list.c", "char quote = '\"';  // faultline:ignore R27: three authors\n", 1),
    ])
    func `Comments of Python and C suppress too`(_ file: String, _ source: String, _ line: Int) throws {
        let accepted = try Acceptance.inComments(of: source, file: file)
        #expect(accepted.map(\.subject) == [.line(CallSite(file: file, line: line), rule: "R27")])
    }

    @Test(arguments: [
        ("shop/views.py", "// faultline:ignore R27: division\n"),
        ("shop/views.py", "x = '# faultline:ignore R27: text'\n"),
        ("shop/list.c", "# faultline:ignore R27: no comment\n"), ("notes.txt", "// faultline:ignore R27: no code\n"),
    ])
    func `Text that is not a comment in its language suppresses nothing`(_ file: String, _ source: String) throws {
        #expect(try Acceptance.inComments(of: source, file: file).isEmpty)
    }

    @Test(arguments: [
        ("App/List.swift", "/home/me/Sources/App/List.swift", true),
        ("App/List.swift", "/x/App/Views/List.swift", true),
        ("App/List.swift", "/home/me/Sources/Other/List.swift", false),
        ("/build/Sources/App/List.swift", "/home/me/Sources/App/List.swift", true),
        ("/build/Sources/App/List.swift", "/home/me/Sources/Other/List.swift", false),
        ("App/List.swift", "List.swift", true),
    ])
    func `A comment applies to its own module`(_ recorded: String, _ source: String, _ isSame: Bool) {
        let finding = Finding(
            rule: "R01", ruleName: "", title: "", change: CallSite(file: recorded, line: 4), severity: .warning,
            fix: "",
            saving: Saving(), confidence: .high, signature: "")
        let acceptance = Acceptance(subject: .line(CallSite(file: source, line: 4), rule: "R01"), reason: "x")
        #expect(acceptance.covers(finding) == isSame)
    }

    @Test(arguments: ["R02", "R02:", "until 2027-01-01: x", "R02 until soon: x", "R02 until 2027-02-32: x", "all: x"])
    func `A comment without a valid rule, reason or day is an error`(_ text: String) {
        #expect(throws: AcceptanceError(site: CallSite(file: "List.swift", line: 2))) {
            try Acceptance.inComments(of: "\n// faultline:ignore \(text)", file: "List.swift")
        }
    }

    @Test func `A comment suppresses its rule at its line and nothing else`() throws {
        let finding = try #require(Analysis(flawed).findings.first { $0.rule == "R01" })
        let site = try #require(finding.change)
        let covers = { Acceptance(subject: .line($0, rule: $1), reason: "x").covers(finding) }
        #expect(covers(site, "R01"))
        #expect(!covers(site, "R02"))
        #expect(!covers(CallSite(file: site.file, line: site.line + 1), "R01"))
    }
}
