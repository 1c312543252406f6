import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R13: waits")
struct WaitRuleTests {
    private static let millisecond: UInt64 = 1_000_000

    /// A worker on thread 9, and a waiter on thread 7.
    private struct Contention: MusicStory {
        var music = Music()
        lazy var waiter = music.trace.site(60, "show()")
        lazy var holder = music.trace.site(70, "importAll()")
        lazy var save = music.trace.site(75, "importAll()")

        /// Adds a save by the worker.
        mutating func work(at start: UInt64, for duration: UInt64, thread: UInt32 = 9) {
            var save = TraceEvent.Save()
            save.inserted = 100
            save.entities = [.init(entity: music.track, inserted: 100)]
            (music.trace.now, music.trace.thread) = (start, thread)
            music.trace.event(.save(save), duration: duration, site: self.save)
            music.trace.thread = 7
        }

        mutating func wait(
            from start: UInt64, for duration: UInt64, _ resource: TraceEvent.Wait.Resource = .contextQueue,
            _ change: (inout TraceEvent.Wait) -> Void = { _ in }
        ) {
            var wait = TraceEvent.Wait()
            wait.resource = resource
            wait.isBlocking = true
            wait.ownerThread = resource == .sqlite ? 0 : 9
            wait.ownerSite = resource == .sqlite ? 0 : holder
            change(&wait)
            music.trace.now = start
            music.trace.event(.wait(wait), duration: duration, site: waiter)
        }

        func analysis() -> Analysis { Analysis(Profile(music.trace.closed()), rules: [WaitRule()]) }
    }

    private func findings(_ body: (inout Contention) -> Void) -> [Finding] {
        var contention = Contention()
        body(&contention)
        return contention.analysis().findings
    }

    private func figure(_ name: String, _ finding: Finding?) -> Double? {
        finding?.evidence.first { $0.name == name }?.value
    }

    @Test func `A wait for a context that saves is reported at the save`() throws {
        var contention = Contention()
        contention.work(at: 0, for: 40 * Self.millisecond)
        contention.wait(from: 10 * Self.millisecond, for: 30 * Self.millisecond)
        let analysis = contention.analysis()
        #expect(analysis.checks.map(\.examined?.text) == ["1 wait"])
        let finding = try #require(analysis.findings.first)
        #expect(analysis.findings.count == 1)
        #expect(finding.rule == "R13")
        #expect(finding.title.text == "Give the save at List.swift:75 a context of its own")
        #expect(finding.change?.description == "List.swift:75")
        #expect(finding.seenAt.map(\.site?.description) == ["List.swift:60"])
        #expect(
            finding.explanation.map(\.text) == [
                "1 wait for a context's queue: 30.0 ms in all, longest 30.0 ms, during the save at List.swift:75."
            ])
        #expect(finding.severity == .warning)
        #expect(finding.saving.time == Saving.Range(median: 30e6, low: 15e6, high: 30e6))
        #expect(finding.saving.pause?.median == 30e6)
        #expect(finding.signature == "R13|contextQueue|show()|importAll()")
        #expect(finding.code.first == "let context = container.newBackgroundContext()")
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == [
                "waits": 1, "waitTime": 30e6, "blockedTime": 30e6, "longest": 30e6, "median": 30e6, "p95": 30e6,
                "tries": 0, "failures": 0, "wallTime": 30e6,
            ])
    }

    @Test func `A wait is the same whether the owner's events come before or after it`() {
        let later = findings { contention in
            contention.wait(from: 10 * Self.millisecond, for: 30 * Self.millisecond)
            contention.work(at: 0, for: 40 * Self.millisecond)
        }
        #expect(later.map(\.title.text) == ["Give the save at List.swift:75 a context of its own"])
        // Other events of the owner's thread before and after it make no difference.
        let among = findings { contention in
            contention.work(at: 0, for: Self.millisecond)
            contention.wait(from: 10 * Self.millisecond, for: 30 * Self.millisecond)
            contention.work(at: 5 * Self.millisecond, for: 36 * Self.millisecond)
            contention.work(at: 80 * Self.millisecond, for: 90 * Self.millisecond)
        }
        #expect(among.map { figure("waitTime", $0) } == [30e6])
    }

    @Test func `A wait for a queue counts only the owner's time in the store`() {
        let other = findings { $0.wait(from: 0, for: 50 * Self.millisecond) }
        #expect(other.isEmpty)
        let little = findings { contention in
            contention.work(at: 0, for: 4 * Self.millisecond)
            contention.wait(from: 0, for: 50 * Self.millisecond)
        }
        #expect(little.isEmpty)
        // Only the time in the store counts.
        let half = findings { contention in
            contention.work(at: 0, for: 25 * Self.millisecond)
            contention.wait(from: 0, for: 50 * Self.millisecond)
        }
        #expect(half.map { figure("waitTime", $0) } == [25e6])
        let another = findings { contention in
            contention.work(at: 0, for: 50 * Self.millisecond, thread: 11)
            contention.wait(from: 0, for: 50 * Self.millisecond)
        }
        #expect(another.isEmpty)
    }

    @Test func `Many short faults count as much as one long save`() {
        let finding = findings { contention in
            var fault = TraceEvent.Fault()
            (fault.source, fault.entity) = (.store, contention.music.track)
            let stack = contention.music.readStack
            contention.music.trace.thread = 9
            for _ in 0..<200 {
                contention.music.trace.event(.fault(fault), duration: 90_000, stack: stack)
                contention.music.trace.now += 10_000
            }
            contention.music.trace.thread = 7
            contention.wait(from: 1000, for: 20 * Self.millisecond)
        }
        #expect(finding.map(\.title.text) == ["Give the fault at Scroll.swift:57 a context of its own"])
        #expect(figure("waitTime", finding.first).map { abs($0 - 18e6) < 1e5 } == true)
    }

    @Test(arguments: [TraceEvent.Wait.Resource.coordinator, .connection])
    func `Waits for the store's own locks count in full`(_ resource: TraceEvent.Wait.Resource) {
        let finding = findings { $0.wait(from: 0, for: 20 * Self.millisecond, resource) }
        #expect(finding.map { figure("waitTime", $0) } == [20e6])
        #expect(finding.map(\.title.text).first?.contains("the work at List.swift:70") == true)
        #expect(finding.map(\.change?.description) == ["List.swift:70"])
    }

    @Test func `Waits of 5 ms, or of a tenth of a scope, are reported`() {
        func short(_ wait: UInt64, of scope: UInt64) -> Int {
            findings { contention in
                contention.scoped(.request) { contention in
                    contention.wait(from: 1000, for: wait, .coordinator)
                    contention.music.trace.now = 1000 + scope
                }
            }.count
        }
        #expect(findings { $0.wait(from: 0, for: 5 * Self.millisecond, .coordinator) }.count == 1)
        #expect(findings { $0.wait(from: 0, for: 5 * Self.millisecond - 1, .coordinator) }.isEmpty)
        #expect(short(Self.millisecond, of: 10 * Self.millisecond) == 1)
        #expect(short(Self.millisecond, of: 11 * Self.millisecond) == 0)
    }

    @Test func `A short wait in a long scope is not reported`() {
        let found = findings { contention in
            contention.scoped(.request, pause: 1000 * Self.millisecond) { $0.wait(from: 1000, for: 1000, .coordinator) }
        }
        #expect(found.isEmpty)
    }

    @Test func `Impossible durations do not stop the analysis`() {
        let longest: UInt64 = 1 << 53
        let found = findings { contention in
            contention.music.trace.isMainThread = true
            for _ in 0..<1100 { contention.wait(from: 0, for: longest, .coordinator) }
        }
        #expect(found.count == 1)
    }

    @Test func `A short wait for SQLite's lock is a note, and a failed one is an error`() throws {
        let finding = try #require(
            findings { contention in
                contention.wait(from: 0, for: 3 * Self.millisecond, .sqlite) { wait in
                    wait.tries = 2
                    wait.ownerProcess = 4711
                }
            }.first)
        #expect(finding.title.text == "Shorten how long the other process holds SQLite's lock")
        #expect(finding.change?.description == "List.swift:60")
        #expect(
            finding.explanation.map(\.text) == [
                "1 wait for SQLite's lock: 3.00 ms in all, longest 3.00 ms.",
                "Another process held it.", "The lock was retried 2 times.",
            ])
        #expect(finding.severity == .note)
        let failed = findings { contention in
            contention.wait(from: 0, for: 1000, .sqlite) { ($0.tries, $0.error) = (1, 5) }
        }
        #expect(failed.map(\.severity) == [.error])
        #expect(
            failed.first?.explanation.map(\.text)[1] == "1 wait ended without the lock, and the work failed.")
    }

    /// The findings about a program that uses SQLite without Faultline's store.
    private func findings(ofStatements events: [TraceEvent]) -> [Finding] {
        var builder = ProfileBuilder()
        builder.add(.began(ProcessBegan(process: 1, program: "App", gaps: [TraceGap(.operations)])))
        builder.add(.entry(process: 1, id: 1, .statement(StatementEntry(sql: "COMMIT"))))
        builder.add(.entry(process: 1, id: 4, .statement(StatementEntry(sql: "BEGIN"))))
        builder.add(.entry(process: 1, id: 5, .statement(StatementEntry(sql: "BEGIN IMMEDIATE"))))
        builder.add(.entry(process: 1, id: 2, .stack(StackEntry(frames: ["0x10"]))))
        builder.add(
            .entry(
                process: 1, id: 3,
                .frame(
                    FrameEntry(
                        address: "0x10", module: "Python",
                        locations: [.init(symbol: "", function: "importer", file: "/shop/app.py", line: 17)]))))
        builder.add(.entry(process: 1, id: 8, .stack(StackEntry(frames: ["0x20"]))))
        builder.add(
            .entry(
                process: 1, id: 9,
                .frame(
                    FrameEntry(
                        address: "0x20", module: "Python",
                        locations: [.init(symbol: "", function: "importer", file: "/shop/app.py", line: 11)]))))
        for event in events { builder.add(.event(event)) }
        builder.add(.ended(ProcessEnded(process: 1, end: 1_000_000_000, events: UInt64(events.count))))
        return Analysis(builder.finish(), rules: [WaitRule()]).findings
    }

    @Test func `A statement that waits for a transaction of another thread is reported at that transaction`() throws {
        var commit = TraceEvent.Statement()
        (commit.statement, commit.type) = (1, .transaction)
        var wait = TraceEvent.Wait()
        (wait.resource, wait.isBlocking, wait.ownerThread, wait.tries) = (.sqlite, true, 9, 4)
        let found = findings(ofStatements: [
            TraceEvent(
                id: 2, start: 10 * Self.millisecond, duration: 200 * Self.millisecond, thread: 7, process: 1,
                .wait(wait)),
            TraceEvent(
                id: 1, start: 20 * Self.millisecond, duration: 150 * Self.millisecond, thread: 9, process: 1, stack: 2,
                .sql(commit)),
        ])
        let finding = try #require(found.first)
        #expect(finding.title.text == "Shorten how long the transaction at app.py:17 holds SQLite's lock")
        #expect(finding.fix.text.contains("BEGIN IMMEDIATE") && !finding.fix.text.contains("Faultline"))
        #expect(finding.code.isEmpty && finding.alternatives.count == 1 && finding.saving.pause != nil)
    }

    @Test func `The owner's line is the one that took the lock, also while its thread does something else`() throws {
        var write = TraceEvent.Statement(), commit = TraceEvent.Statement()
        (write.statement, write.type) = (7, .write)
        (commit.statement, commit.type) = (1, .transaction)
        var begin = commit
        begin.statement = 4
        var wait = TraceEvent.Wait()
        (wait.resource, wait.isBlocking, wait.ownerThread, wait.tries) = (.sqlite, true, 9, 4)
        let events: [(UInt64, UInt64, UInt32, DictionaryID, TraceEvent.Detail)] = [
            (1, 1, 9, 2, .sql(begin)), (2, 1, 9, 8, .sql(write)), (10, 200, 7, 2, .wait(wait)),
            (220, 1, 9, 2, .sql(commit)),
        ]
        let found = findings(
            ofStatements: events.enumerated().map { number, event in
                TraceEvent(
                    id: EventID(number + 1), start: event.0 * Self.millisecond, duration: event.1 * Self.millisecond,
                    thread: event.2, process: 1, stack: event.3, event.4)
            })
        #expect(found.map(\.change?.description) == ["app.py:11"])
        #expect(found.first?.title.text == "Shorten how long the transaction at app.py:11 holds SQLite's lock")
    }

    @Test func `A thread that waits for a connection of its own is not blamed for the work of the wait`() throws {
        var insert = TraceEvent.Statement()
        (insert.statement, insert.type) = (1, .write)
        var wait = TraceEvent.Wait()
        (wait.resource, wait.isBlocking, wait.ownerThread, wait.tries) = (.sqlite, true, 7, 4)
        let found = findings(ofStatements: [
            TraceEvent(
                id: 1, start: 0, duration: 210 * Self.millisecond, thread: 7, process: 1, stack: 2, .sql(insert)),
            TraceEvent(
                id: 2, parent: 1, start: 0, duration: 200 * Self.millisecond, thread: 7, process: 1, stack: 2,
                .wait(wait)),
        ])
        #expect(found.map(\.title.text) == ["Shorten how long another connection holds SQLite's lock"])
    }

    @Test func `A statement that fails at once is to wait for the lock`() throws {
        var wait = TraceEvent.Wait()
        (wait.resource, wait.isBlocking, wait.error) = (.sqlite, true, 5)
        let found = findings(ofStatements: [
            TraceEvent(id: 2, start: 10, duration: 1, thread: 7, process: 1, .wait(wait))
        ])
        let finding = try #require(found.first)
        #expect(finding.title.text == "Wait for SQLite's lock instead of failing")
        #expect(finding.code == ["PRAGMA busy_timeout = 5000"] && finding.codeLanguage == "sql")
        #expect(
            finding.explanation.map(\.text) == [
                "1 statement failed with SQLITE_BUSY, because another connection held the lock."
            ])
        #expect(finding.severity == .error && finding.saving.time == .none && finding.saving.pause == nil)
        // A statement that has waited needs no timeout.
        wait.tries = 3
        let waited = findings(ofStatements: [
            TraceEvent(id: 2, start: 10, duration: 9 * Self.millisecond, thread: 7, process: 1, .wait(wait))
        ])
        #expect(waited.first?.code.isEmpty == true)
    }

    /// The statements of one thread, the last of which fails at once because another connection holds the lock.
    private func failure(of statements: [(sql: DictionaryID, TraceEvent.Statement.StatementType)]) -> Finding? {
        var events = statements.enumerated().map { position, statement in
            var fields = TraceEvent.Statement()
            (fields.statement, fields.type) = statement
            fields.error = position == statements.count - 1 ? 5 : 0
            return TraceEvent(
                id: EventID(position + 1), start: UInt64(position) * 1000, duration: 10, thread: 7, process: 1,
                stack: 2,
                .sql(fields))
        }
        var wait = TraceEvent.Wait()
        (wait.resource, wait.isBlocking, wait.error) = (.sqlite, true, 5)
        events.append(
            TraceEvent(
                id: 99, parent: EventID(statements.count), start: UInt64(statements.count - 1) * 1000, duration: 1,
                thread: 7, process: 1, stack: 2, .wait(wait)))
        return findings(ofStatements: events).first
    }

    @Test func `A transaction that fails to write after it has read begins with the lock`() throws {
        let read = (sql: DictionaryID(6), TraceEvent.Statement.StatementType.read)
        let write = (sql: DictionaryID(7), TraceEvent.Statement.StatementType.write)
        let finding = try #require(failure(of: [(4, .transaction), read, write]))
        #expect(finding.title.text == "Begin the transaction with BEGIN IMMEDIATE")
        #expect(finding.code == [#"connection.execute("BEGIN IMMEDIATE")"#] && finding.codeLanguage == "python")
        #expect(
            finding.explanation.map(\.text) == [
                "1 statement failed with SQLITE_BUSY, because another connection held the lock and the transaction had "
                    + "already read."
            ])
        #expect(finding.severity == .error && finding.change?.line == 17)
        // Neither a first write, nor a read outside a transaction, nor a transaction that has the lock.
        for statements in [[(4, .transaction), write], [read, write], [(5, .transaction), read, write]] {
            #expect(failure(of: statements)?.title.text == "Wait for SQLite's lock instead of failing")
        }
        let ended: [(sql: DictionaryID, TraceEvent.Statement.StatementType)] = [
            (4, .transaction), read, (1, .transaction), write,
        ]
        #expect(failure(of: ended)?.title.text == "Wait for SQLite's lock instead of failing")
    }

    @Test func `Writers that wait although no transaction is long are one finding, and are to take turns`() throws {
        var commit = TraceEvent.Statement()
        (commit.statement, commit.type) = (1, .transaction)
        var begin = commit
        begin.statement = 5
        var events: [TraceEvent] = []
        func add(_ statement: TraceEvent.Statement, _ start: UInt64, _ duration: UInt64, thread: UInt32) {
            events.append(
                TraceEvent(
                    id: EventID(events.count + 1), start: start, duration: duration, thread: thread, process: 1,
                    stack: 2,
                    .sql(statement)))
        }
        for turn in 0..<100 {
            add(begin, UInt64(turn) * Self.millisecond, 1000, thread: 9)
            add(commit, UInt64(turn) * Self.millisecond + 300_000, 100_000, thread: 9)
        }
        // The second time, the owner had gone when it was looked for.
        for (start, owner) in [(UInt64(10), UInt32(9)), (60, 0)] {
            begin.wait = 30 * Self.millisecond
            add(begin, start * Self.millisecond, 30 * Self.millisecond + 1000, thread: 7)
            var wait = TraceEvent.Wait()
            (wait.resource, wait.isBlocking, wait.ownerThread, wait.tries) = (.sqlite, true, owner, 4)
            events.append(
                TraceEvent(
                    id: EventID(events.count + 1), parent: EventID(events.count), start: start * Self.millisecond,
                    duration: 30 * Self.millisecond, thread: 7, process: 1, stack: 2, .wait(wait)))
            add(commit, start * Self.millisecond + 31 * Self.millisecond, 1000, thread: 7)
        }
        let found = findings(ofStatements: events)
        let finding = try #require(found.first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "No transaction holds the lock for long, so there is little to shorten."
            ])
        // The run need not have waited for the thread that did.
        #expect(finding.saving.time.low == 0 && finding.saving.time.high == 60e6)
        #expect(found.count == 1 && finding.title.text == "Write from one connection instead of several at a time")
        #expect(finding.explanation.map(\.text).contains("No transaction had it for more than 400 µs."))
        #expect(finding.explanation.map(\.text).first?.hasPrefix("2 waits for SQLite's lock: 60.0 ms in all") == true)
        #expect(!finding.fix.text.contains("BEGIN IMMEDIATE") && finding.alternatives.isEmpty)
    }

    @Test func `A task that waits blocks no thread, so its wait counts only as a pause`() {
        let finding = findings { contention in
            contention.work(at: 0, for: 40 * Self.millisecond)
            contention.wait(from: 0, for: 30 * Self.millisecond) { $0.isBlocking = false }
        }
        #expect(finding.map(\.saving.time.median) == [0])
        #expect(finding.map(\.saving.pause?.median) == [30e6])
    }

    @Test func `Waits of one line for another are one finding`() {
        let finding = findings { contention in
            for turn in 0..<40 as Range<UInt64> {
                contention.work(at: turn * 100 * Self.millisecond, for: 20 * Self.millisecond)
                contention.wait(from: turn * 100 * Self.millisecond, for: (turn + 1) * Self.millisecond / 2)
            }
        }
        #expect(finding.map { figure("waits", $0) } == [40])
        #expect(finding.map { figure("median", $0) } == [10e6])
    }

    /// The advice about a wait for a save.
    private func fix(
        objects: UInt32, commit: UInt64 = 0, _ resource: TraceEvent.Wait.Resource = .coordinator
    ) -> String? {
        findings { contention in
            var save = TraceEvent.Save()
            (save.inserted, save.commit) = (objects, commit)
            save.entities = [.init(entity: contention.music.track, inserted: UInt64(objects))]
            (contention.music.trace.now, contention.music.trace.thread) = (0, 9)
            contention.music.trace.event(.save(save), duration: 30 * Self.millisecond, site: contention.save)
            contention.music.trace.thread = 7
            contention.wait(from: 1000, for: 20 * Self.millisecond, resource) { $0.ownerThread = 9 }
        }.first?.fix.text
    }

    @Test func `R13 advises splitting a save only if it has many objects`() throws {
        for resource in [TraceEvent.Wait.Resource.coordinator, .sqlite] {
            let many = try #require(fix(objects: 2000, resource))
            #expect(many.contains("the largest save has 2,000 objects. Save a few hundred at a time"))
            let one = try #require(fix(objects: 1, resource))
            #expect(one.hasPrefix("The largest save has only 1 object, so splitting it would not help."))
            let disk = try #require(fix(objects: 1, commit: 25 * Self.millisecond, resource))
            #expect(disk.contains("most of the saves' time is COMMIT, which waits for the disk"))
            // A store whose contexts save uses both already.
            for fix in [many, one, disk] { #expect(!fix.contains("BEGIN") && !fix.contains("write-ahead")) }
        }
    }

    @Test func `Lines that wait for the same owner are one finding`() throws {
        let found = findings { contention in
            let other = contention.music.trace.site(61, "refresh()")
            contention.work(at: 0, for: 40 * Self.millisecond)
            contention.wait(from: 1000, for: 30 * Self.millisecond)
            let first = contention.waiter
            contention.waiter = other
            contention.wait(from: 2000, for: 20 * Self.millisecond)
            contention.waiter = first
        }
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.seenAt.map(\.site?.description) == ["List.swift:60", "List.swift:61"])
        #expect(figure("waits", finding) == 2 && figure("waitTime", finding) == 50e6)
        // Both waited during the same 40 ms.
        #expect(finding.saving.time.median == 40e6)
    }

    @Test func `Scopes of kind setup are ignored, and a finding with lost events is a note`() {
        func scoped(_ kind: TraceEvent.Scope.Kind, isLossy: Bool = false) -> [Finding] {
            findings { contention in
                contention.scoped(kind) { contention in
                    contention.wait(from: 1000, for: 60 * Self.millisecond, .coordinator)
                    if isLossy { contention.music.trace.add(.lost(EventLoss(process: 7, thread: 7, events: 3))) }
                    contention.music.trace.event(.save(TraceEvent.Save()), duration: 10)
                }
            }
        }
        #expect(scoped(.setup).isEmpty)
        #expect(scoped(.request).map(\.severity) == [.error])
        #expect(scoped(.request, isLossy: true).map(\.severity) == [.note])
    }
}
