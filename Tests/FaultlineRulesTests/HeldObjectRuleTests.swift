import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R25: objects held too long")
struct HeldObjectRuleTests {
    private struct Story {
        var groceries = Groceries()

        mutating func fill(_ object: UInt64, bytes: UInt64 = 20_000, isWatched: Bool = true) -> EventID {
            var fault = TraceEvent.Fault()
            (fault.entity, fault.object, fault.filled) = (groceries.item, object, 1)
            (fault.source, fault.bytes, fault.isWatched) = (.rowCache, bytes, isWatched)
            return groceries.trace.event(.fault(fault), duration: 1000, stack: groceries.faultStack)
        }

        mutating func release(_ fault: EventID) {
            var release = TraceEvent.Release()
            (release.fault, release.entity, release.bytes) = (fault, groceries.item, 20_000)
            groceries.trace.event(.release(release))
        }

        mutating func scoped(
            _ kind: TraceEvent.Scope.Kind = .screen, _ body: (inout Story) -> Void
        ) {
            var copy = self
            groceries.scoped(kind) { inner in
                copy.groceries = inner
                body(&copy)
                inner = copy.groceries
            }
        }

        var findings: [Finding] {
            Analysis(Profile(groceries.trace.closed()), rules: [HeldObjectRule()]).findings
        }
    }

    private func findings(_ tell: (inout Story) -> Void) -> [Finding] {
        var story = Story()
        tell(&story)
        return story.findings
    }

    @Test func `Objects that stay realized after their scope closes are reported`() throws {
        let finding = try #require(
            findings { story in
                for object in 0..<4 as Range<UInt64> { story.scoped { _ = $0.fill(object) } }
            }.first)
        #expect(finding.rule == "R25" && finding.severity == .warning)
        #expect(finding.title.text == #"Turn Item objects back into faults when the scope "scroll" closes"#)
        #expect(finding.change?.description == "Scroll.swift:57")
        #expect(finding.code == ["context.refresh(object, mergeChanges: false)"])
        #expect(
            finding.explanation.map(\.text) == [
                #"4 of 4 objects that were loaded at this line stayed realized after the scope "scroll" closed: at most 4 at once, 78.1 KiB. 4 were still held at the end."#
            ])
        #expect(finding.saving.memory == 80_000)
    }

    @Test func `The finding has the line that opens the scope`() throws {
        var story = Story()
        let stack = story.groceries.trace.stack(31)
        let name = story.groceries.screenName
        for object in 0..<4 as Range<UInt64> {
            var copy = story
            story.groceries.trace.scoped(name, .screen, stack: stack) { trace in
                copy.groceries.trace = trace
                _ = copy.fill(object)
                trace = copy.groceries.trace
            }
        }
        #expect(try #require(story.findings.first).explanation.last?.text == "The scope is opened at Scroll.swift:31.")
        let stored = try Profile(fileData: Profile(story.groceries.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [HeldObjectRule()]).findings == story.findings)
    }

    @Test func `Objects released within their scope are not reported`() {
        #expect(
            findings { story in
                for object in 0..<9 as Range<UInt64> {
                    story.scoped { story in
                        let fault = story.fill(object)
                        story.release(fault)
                    }
                }
            }.isEmpty)
    }

    @Test func `Objects released soon after their scope are reported only if three are held at once`() {
        func found(atATime count: Int) -> [Finding] {
            findings { story in
                var held: [EventID] = []
                for object in 0..<20 as Range<UInt64> {
                    story.scoped { held.append($0.fill(object)) }
                    if held.count == count { story.release(held.removeFirst()) }
                }
            }
        }
        #expect(found(atATime: 2).isEmpty)
        #expect(found(atATime: 3).map(\.evidence).first?.map(\.value) == [20, 20, 3, 60_000, 2])
    }

    @Test func `If fewer than half of the objects stay, half of those must be held at once`() {
        func found(_ count: Int) -> [Finding] {
            findings { story in
                var held: [EventID] = []
                for object in 0..<100 as Range<UInt64> {
                    story.scoped { story in
                        let fault = story.fill(object)
                        if object % 3 == 0 { held.append(fault) } else { story.release(fault) }
                    }
                    if held.count == count { story.release(held.removeFirst()) }
                }
            }
        }
        // 34 of them outlive their scope.
        #expect(found(16).isEmpty)
        #expect(found(17).count == 1)
    }

    @Test func `Rows that their fetch result still holds are not reported`() {
        func found(batchSize: UInt32, batchesMore: Int, isClosed: Bool = false) -> [Finding] {
            findings { story in
                let fetch = story.groceries.fetch(rows: 400, batchSize: batchSize)
                if batchSize > 0 { story.groceries.batch(of: fetch, first: 0, rows: batchSize) }
                story.scoped { story in
                    for object in 0..<4 as Range<UInt64> {
                        var fault = TraceEvent.Fault()
                        (fault.entity, fault.object, fault.origin) = (story.groceries.item, object, fetch)
                        (fault.source, fault.bytes, fault.isWatched) = (.rowCache, 20_000, true)
                        story.groceries.trace.event(.fault(fault), duration: 100, stack: story.groceries.faultStack)
                    }
                }
                for number in 0..<batchesMore {
                    story.groceries.batch(of: fetch, first: UInt32(number + 1) * batchSize, rows: batchSize)
                }
                guard isClosed else { return }
                var release = TraceEvent.Release()
                (release.fetch, release.entity) = (fetch, story.groceries.item)
                story.groceries.trace.event(.release(release))
            }
        }
        #expect(found(batchSize: 20, batchesMore: 4).isEmpty)
        #expect(found(batchSize: 20, batchesMore: 5).count == 1)
        #expect(found(batchSize: 0, batchesMore: 0).isEmpty)
        #expect(found(batchSize: 0, batchesMore: 0, isClosed: true).count == 1)
    }

    @Test func `Objects outside scopes, in scopes of kind setup or unwatched are not reported`() {
        #expect(findings { story in for object in 0..<9 as Range<UInt64> { _ = story.fill(object) } }.isEmpty)
        #expect(
            findings { story in
                for object in 0..<9 as Range<UInt64> { story.scoped(.setup) { _ = $0.fill(object) } }
            }.isEmpty)
        #expect(
            findings { story in
                for object in 0..<9 as Range<UInt64> { story.scoped { _ = $0.fill(object, isWatched: false) } }
            }.isEmpty)
    }
}
