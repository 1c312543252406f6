import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules

@Suite("Markdown")
struct MarkdownTests {
    private static let hostile = "a|b`c<img src=x>\n# d\u{1B}[31m](e)"

    private let story = Analysis(Profile(GroceriesStory.trace))

    /// The story with one finding, whose names are all `name`.
    private func story(named name: String) -> Analysis {
        var finding = Finding(
            rule: "R99", ruleName: name, title: "Prefetch \(quoted: name) with the fetch of \(entity: name), \(name)",
            change: CallSite(file: "App/\(name).swift", line: 42), severity: .warning, fix: "Change \(code: name).",
            code: ["let text = \"```\"", name], saving: Saving(), confidence: .high, signature: "R99|\(name)")
        finding.explanation = [
            "\(property: name) took \(duration: 1_200_000.0) at \(site: CallSite(file: name, line: 7))."
        ]
        finding.evidence = [Evidence("trips", 99.0, .trips), Evidence("share", 0.41, .share)]
        return Analysis(Profile(GroceriesStory.trace), rules: [StubRule(findings: [finding])])
    }

    @Test func `A report has the findings, their code and numbers, and the hotspots`() {
        #expect(
            MarkdownReport(analysis: story).render() == """
                ## Faultline: `groceries`

                4.11 ms, 180 events, none lost, writing 120 µs.

                ### What to change

                #### 1. Prefetch `list` with the fetch of `Item`

                **warning** · R01 N+1 faults · `List.swift:42`

                `Item.list` went to the store in 100 trips for 100 objects, 1.20 ms in all. They belong to 1 fetch of `Item` with 100 loaded rows; all of them were affected.

                Add `list` to `relationshipKeyPathsForPrefetching` of this fetch.

                ```swift
                request.relationshipKeyPathsForPrefetching = ["list"]
                ```

                Saves 982 µs (354 µs–1.13 ms), 24 % of the run, 99 trips. Confidence: medium.

                <details><summary>Evidence</summary>

                | evidence | value |
                | --- | ---: |
                | `trips` | 100 |
                | `objects` | 100 |
                | `rowsFilled` | 100 |
                | `faultTime` | 1.20 ms |
                | `occurrences` | 1 |
                | `originFetches` | 1 |
                | `originRows` | 100 |
                | `firingShare` | 100 % |
                | `seenBefore` | 0 |
                | `wallTime` | 1.43 ms |

                | observed at | times |
                | --- | ---: |
                | `Scroll.swift:57` | 100 |

                </details>

                #### 2. Set the batch size of `Item` to 15 (now 50)

                **warning** · R02 Batch size · `List.swift:42`

                10 screens seen: 95 % of them show at most 10 rows, and 50 rows are loaded at a time. The first screen loads 40 rows that it never shows, and would load 5 with batches of 15. To show the same rows, the program then needs 7 batches instead of 2, and still loads 100 rows.

                Load half a screen more than a screen shows, and the rest when the user scrolls to it.

                ```swift
                request.fetchBatchSize = 15
                ```

                Shortens each wait by 70.0 µs (59.5–112 µs), at the price of 5 more trips and 50.0 µs more in all. Confidence: medium.

                <details><summary>Evidence</summary>

                | evidence | value |
                | --- | ---: |
                | `batchSize` | 50 |
                | `advisedBatchSize` | 15 |
                | `windows` | 10 |
                | `windowRows` | 10 |
                | `executions` | 1 |
                | `matchedRows` | 100 |
                | `loadedRows` | 100 |
                | `touchedRows` | 100 |
                | `batches` | 2 |
                | `batchesAdvised` | 7 |
                | `rowBytes` | 100 B |

                | observed at | times |
                | --- | ---: |
                | `Scroll.swift:60` | 100 |

                </details>

                #### 3. Move `Item.image` into an entity of its own

                **warning** · R09 Large values in hot rows · `Model.swift:12`

                100 % of the values have at least 16 KiB; the average is 39.1 KiB. 1 fetch loaded it in 100 rows, 3.81 MiB in all; the program read it in 0.

                Give the value an entity with a to-one relationship from `Item`, so that rows stay small and the value is loaded only when needed.

                ```
                // In the model: Item.image: to-one ItemImage; ItemImage.value: Binary
                ```

                - or: List the other properties in `propertiesToFetch`.

                Saves 100 µs (50.0–200 µs), 2.4 % of the run, 3.81 MiB of reading, 3.81 MiB of peak object memory. Confidence: low, because the cost of a byte is estimated from rows of one size.

                <details><summary>Evidence</summary>

                | evidence | value |
                | --- | ---: |
                | `rowsLoaded` | 100 |
                | `rowsRead` | 0 |
                | `rowsLoadedWithoutNeed` | 100 |
                | `bytes` | 3.81 MiB |
                | `meanBytes` | 39.1 KiB |
                | `largeShare` | 100 % |
                | `entityBytes` | 3.82 MiB |

                | observed at | times |
                | --- | ---: |
                | `List.swift:42` | 100 |

                </details>

                ### Hotspots

                | kind | what | count | p50 | p99 | rows | total | call site |
                | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
                | fault | `Item.list` | 100 | 12.0 µs | 12.0 µs | 100 | 1.20 ms | `Scroll.swift:57` |
                | save | `Item` | 1 | 400 µs | 400 µs | 3 | 400 µs | `List.swift:90` |
                | fetch | `Item by name` | 2 | 60.0 µs | 210 µs | 200 | 270 µs | `List.swift:42` |
                | batch | `Item by name` | 2 | 110 µs | 110 µs | 100 | 220 µs | `Scroll.swift:60` |
                | fault (cached) | `Item.list` | 50 | 300 ns | 300 ns | 50 | 15.0 µs | `Scroll.swift:57` |

                """)
    }

    @Test func `A check has the verdict, the budgets, and how to suppress a finding that fails`() throws {
        let json = #"{"total": {"trips": 3}, "scopes": {"a|b": {"rows": 200}}}"#
        let check = BudgetCheck(
            story(named: "Book"), budget: try Budget(json: Data(json.utf8)), today: "2026-11-24")
        #expect(
            MarkdownCheck(check: check).render() == """
                ## Faultline check: failed

                Failed: 1 broken budget, 1 finding.

                ### Budgets

                |  | scope | limit on | measured | at most |
                | --- | --- | --- | ---: | ---: |
                | ok | (all) | trips | 0 | 3 |
                | **broken** | <code>a&#124;b</code> | rows, most per run | not seen | 200 |

                The trace has no scope "a&#124;b"; it has "scroll".

                ### Findings

                |  | finding | line | suppressed |
                | --- | --- | --- | --- |
                | **fails** | R99 Prefetch `Book` with the fetch of `Book`, Book | `Book.swift:42` |  |

                #### 1. Prefetch `Book` with the fetch of `Book`, Book

                **warning** · R99 Book · `Book.swift:42`

                `Book` took 1.20 ms at `Book:7`.

                Change `Book`.

                ````swift
                let text = "```"
                Book
                ````

                Saves no time that could be estimated. Confidence: high.

                <details><summary>Evidence</summary>

                | evidence | value |
                | --- | ---: |
                | `trips` | 99 |
                | `share` | 41 % |

                </details>

                To suppress it, add its name to the budget, with a reason:

                ```text
                R99|Book
                ```

                """)
    }

    @Test func `A suppression shows its reason and its day, and a stale suppression is listed`() {
        var budget = Budget()
        budget.accepted = [
            Acceptance(subject: .finding("R99|Book"), reason: "read *once*", expires: "2027-06-30"),
            Acceptance(subject: .line(CallSite(file: "A.swift", line: 3), rule: "R02"), reason: "gone"),
        ]
        let text = MarkdownCheck(check: BudgetCheck(story(named: "Book"), budget: budget, today: "2026-11-24")).render()
        #expect(text.hasPrefix("## Faultline check: passed\n\nPassed: no limits were set, no new finding.\n"))
        #expect(text.contains("| `Book.swift:42` | read \\*once\\*, until 2027-06-30 |"))
        #expect(text.contains("### Stale suppressions\n\n- `R02 at A.swift:3`: gone\n\nNo finding matches. "))
        #expect(text.hasSuffix(" a rule's number alone, such as R02, is never a name.\n"))
        #expect(!text.contains("To suppress it"))
    }

    @Test func `A diff has the totals, and the changes of operations and findings`() {
        let diff = ProfileDiff(before: Analysis(Profile()), after: story)
        #expect(
            MarkdownDiff(diff: diff).render() == """
                ## Faultline: before and after

                |  | before | after | change |
                | --- | ---: | ---: | --- |
                | time in the store | 0 ns | 2.11 ms |  |
                | longest operation | 0 ns | 400 µs |  |
                | rows loaded | 0 | 300 |  |
                | bytes read | 0 B | 19.5 KiB |  |
                | bytes written | 0 B | 900 B |  |
                | statements that write | 0 | 1 |  |

                ### New

                | kind | what | what changed | call site |
                | --- | --- | --- | --- |
                | fault | `Item.list` | 150 ×, 100 trips, 1.22 ms | `Scroll.swift:57` |
                | save | `Item` | 1 ×, 5 trips, 400 µs | `List.swift:90` |
                | fetch | `Item by name` | 2 ×, 2 trips, 270 µs | `List.swift:42` |
                | batch | `Item by name` | 2 ×, 2 trips, 220 µs | `Scroll.swift:60` |

                ### Scopes

                | scope | count | trips | time in the store |
                | --- | ---: | ---: | ---: |
                | `scroll` | 0 → 11 | 0 → 103 | 0 ns → 1.65 ms |

                ### Findings

                |  | severity | finding | line |
                | --- | --- | --- | --- |
                | **new** | warning | R01 Prefetch `list` with the fetch of `Item` | `List.swift:42` |
                | **new** | warning | R02 Set the batch size of `Item` to 15 (now 50) | `List.swift:42` |
                | **new** | warning | R09 Move `Item.image` into an entity of its own | `Model.swift:12` |

                No operation is the same.

                """)
    }

    @Test func `Findings that are not shown in full have a line each, unless all are requested`() {
        let findings = (0..<9).map { number in
            Finding(
                rule: "R99", ruleName: "Stub", title: "Change \(count: number)", severity: .warning, fix: "Do it.",
                saving: Saving(), confidence: .high, signature: "\(number)")
        }
        let analysis = Analysis(Profile(GroceriesStory.trace), rules: [StubRule(findings: findings)])
        let (some, all) = (
            MarkdownReport(analysis: analysis).render(), MarkdownReport(analysis: analysis, showsAll: true).render()
        )
        #expect(some.contains("#### 4. Change 3\n") && !some.contains("#### 5. "))
        #expect(some.contains("### Also\n\n- warning: R99 Change 4, call site unknown\n"))
        #expect(all.contains("#### 9. Change 8\n") && !all.contains("### Also"))
    }

    // MARK: - Escaping

    @Test(arguments: [
        ("plain words, 41 %", "plain words, 41 %"), ("a|b", "a&#124;b"), ("<b>", "&#60;b&#62;"), ("&lt;", "&#38;lt;"),
        ("`x`", "\\`x\\`"), ("*_~$#", "\\*\\_\\~\\$\\#"), ("[a](b)", "\\[a\\](b)"), ("a\\|", "a\\\\&#124;"),
        ("a\nb\u{1B}", "a␊b␛"),
    ])
    func `Text is escaped so that it cannot become markup`(words: String, escaped: String) {
        #expect(Markdown.text(words) == escaped)
    }

    @Test(arguments: [
        ("Item.name", "`Item.name`"), ("a<b>_*", "`a<b>_*`"), ("", ""), ("a\nb", "`a␊b`"), ("a\\", "`a\\`"),
        ("a|b", "<code>a&#124;b</code>"), ("a`b", "<code>a&#96;b</code>"), ("<|>", "<code>&#60;&#124;&#62;</code>"),
        (" x", "<code>&#32;x</code>"), ("  ", "<code>&#32;&#32;</code>"),
    ])
    func `A name stays within its code span`(name: String, code: String) {
        #expect(Markdown.code(name) == code)
    }

    @Test func `A fence is longer than any fence in the code, and names its language`() {
        #expect(Markdown.fence(["a", "````", "``"]) == ["`````swift", "a", "````", "``", "`````"])
        #expect(Markdown.fence(["ANALYZE;"]) == ["```sql", "ANALYZE;", "```"])
        #expect(Markdown.fence(["let x = 1\nlet y"]) == ["```swift", "let x = 1␊let y", "```"])
    }

    @Test func `Hostile names break no tables, lines or elements`() throws {
        let analysis = story(named: Self.hostile)
        let limits = Budget.Limit(scope: Self.hostile, measure: "trips", unit: .count, value: 1)
        var budget = Budget()
        budget.limits = [limits]
        let texts = [
            MarkdownReport(analysis: analysis).render(),
            MarkdownCheck(check: BudgetCheck(analysis, budget: budget, today: "2026-11-24")).render(),
            MarkdownDiff(diff: ProfileDiff(before: Analysis(Profile()), after: analysis)).render(),
        ]
        for text in texts {
            #expect(text.contains("img") && !text.contains("\u{1B}"))
            var (columns, fence): (Int?, String?) = (nil, nil)
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
                if let open = fence {
                    if line == open { fence = nil }
                    continue
                }
                if line.hasPrefix("```") { fence = String(line.prefix { $0 == "`" }) }
                #expect(!line.contains("<img") && !line.hasPrefix("# "), "\(line)")
                let bars = line.count { $0 == "|" }
                if line.hasPrefix("| ") {
                    #expect(bars == columns ?? bars, "\(line)")
                } else {
                    #expect(bars == 0, "\(line)")
                }
                columns = line.hasPrefix("| ") ? bars : nil
            }
            #expect(fence == nil)
        }
    }
}
