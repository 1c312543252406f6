package import FaultlineFindings
internal import FaultlineTrace

/// An inspection of a store at rest, which predicts slow operations without a trace.
///
/// Advice is tried on a copy of the store, and withdrawn if the trial does not confirm it. A file does not show how
/// often something is used, so findings are warnings at most, and no saving is predicted.
package struct StoreInspection: Sendable {
    package let facts: StoreFacts
    /// The findings, the largest extent first.
    package let findings: [Finding]
    /// The data that each check examined.
    package let checks: [RuleCheck]
    /// Advice that its trial did not confirm, the largest extent first.
    package let withdrawn: [WithdrawnAdvice]
    /// The number of pieces of advice that could not be tried and are not given.
    package let untried: Int

    /// Inspects a store by its facts alone, and returns all advice that should be tried.
    package init(_ facts: StoreFacts) {
        self.init(facts) { _ in StoreTrial(isConfirmed: true, "") }
    }

    /// Inspects a store.
    ///
    /// - Parameters:
    ///   - statements: Findings about statements of a program that uses the store, which need no trial.
    ///   - trial: Tries a piece of advice. Called with the largest extent first. Returns `nil` if the advice could not be tried;
    ///     it is then not given.
    package init(
        _ facts: StoreFacts, statements: [Finding] = [], trying trial: (StoreAdvice) -> StoreTrial?
    ) {
        self.facts = facts
        let evaluators: [any StoreEvaluator] = [
            LargeColumnEvaluator(), HiddenColumnEvaluator(), SparseTableEvaluator(), FoldedTableEvaluator(),
            MissingIndexEvaluator(), RedundantIndexEvaluator(), UnusedIndexEvaluator(), FragmentationEvaluator(),
            HistoryEvaluator(), PageCacheEvaluator(), StatisticsEvaluator(),
        ]
        let advice = evaluators.flatMap { $0.advice(facts) }.ordered {
            ($0.extent, $1.finding.signature) > ($1.extent, $0.finding.signature)
        }
        var found = statements
        var withdrawn: [WithdrawnAdvice] = []
        var untried = 0
        for one in advice {
            // An index can be both redundant and unused.
            if found.contains(where: { $0.signature == one.finding.signature }) { continue }
            // So can an index for a reference and one for the statements that follow it.
            if case .createIndex(let table, let column) = one.proposal,
                statements.contains(where: { $0.creates(indexOn: table, beginningWith: column) })
            {
                continue
            }
            guard let outcome = trial(one) else {
                untried += 1
                continue
            }
            var finding = one.finding
            guard outcome.isConfirmed else {
                withdrawn.append(.init(rule: finding.rule, title: finding.title, reason: outcome.sentence))
                continue
            }
            if !outcome.sentence.isEmpty { finding.explanation.append("Tried on a copy: \(outcome.sentence)") }
            finding.evidence += outcome.evidence
            found.append(finding)
        }
        findings = found
        self.withdrawn = withdrawn
        self.untried = untried
        checks = evaluators.map { evaluator in
            RuleCheck(
                rule: evaluator.rule, name: evaluator.name, examined: evaluator.examined(facts), obstacles: [],
                findings: found.count { $0.ruleName == evaluator.name })
        }
    }
}

/// Looks for one kind of problem in a store at rest.
protocol StoreEvaluator: Sendable {
    /// The number of the rule that finds the same problem in a trace, or a number of the inspection's own.
    var rule: String { get }
    var name: String { get }

    /// The data that the check examines, or `nil` if the store has none.
    func examined(_ facts: StoreFacts) -> Wording?
    func advice(_ facts: StoreFacts) -> [StoreAdvice]
}

extension StoreEvaluator {
    /// The minimum number of rows of a table that is checked.
    static var minimumRows: UInt64 { 500 }

    func examined(_ facts: StoreFacts) -> Wording? {
        facts.tables.isEmpty ? nil : "\(count: facts.tables.count, "table")"
    }

    /// Creates a finding about a table or the file.
    ///
    /// - Parameter extent: The extent of the problem, as a multiple of that which is worth a warning.
    func finding(
        _ title: Wording, in table: StoreFacts.Table? = nil, of facts: StoreFacts? = nil, extent: Double, fix: Wording,
        code: [String] = [], alternatives: [Wording] = [],
        explanation: [Wording], evidence: [Evidence], what: String = "", trying proposal: StoreProposal
    ) -> StoreAdvice {
        var finding = Finding(
            rule: rule, ruleName: name, title: title,
            change: table.map { CallSite(file: "", line: 0, function: "table \($0.name)") }
                ?? facts.map { CallSite(file: $0.path, line: 0) },
            severity: extent >= 1 ? .warning : .note, fix: fix, code: code, saving: Saving(),
            confidence: .medium("the way the program uses the store is unknown"),
            signature: [rule, table?.name ?? "", what].joined(separator: "|"))
        finding.explanation = explanation
        finding.alternatives = alternatives
        finding.evidence = evidence
        return StoreAdvice(finding: finding, proposal: proposal, extent: extent)
    }
}
