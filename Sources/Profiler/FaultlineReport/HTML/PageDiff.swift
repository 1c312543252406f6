internal import FaultlineDocuments
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The comparison of two traces, for a page.
enum PageDiff {
    static func value(_ diff: ProfileDiff) -> JSONValue {
        let text = DiffText(diff)
        return .object([
            ("totals", .array(text.totalRows.map { .array($0.map { .string($0) }) })),
            ("remarks", .array([text.sides, text.pace ?? ""].filter { !$0.isEmpty }.map { .string($0) })),
            (
                "verdicts",
                .array(
                    DiffText.verdicts.map { verdict, title, _ in
                        .array([.string(verdict.rawValue), .string(title)])
                    })
            ),
            ("operations", .array(diff.operations.map { operation($0, diff.traces, text) })),
            ("findings", .array(diff.findings.map(finding))),
            ("rules", PageFinding.rules(of: diff.findings.compactMap { $0.after ?? $0.before })),
            ("plans", .array(diff.plans.map(plan))),
        ])
    }

    private static func operation(
        _ operation: ProfileDiff.Operation, _ traces: (before: UInt64, after: UInt64), _ text: DiffText
    ) -> JSONValue {
        let group = operation.group
        let changes = operation.changes.map { figure -> JSONValue in
            .array([
                .string(text.label(figure.name)), .string(text.words(figure.name, figure.before, traces.before)),
                .string(text.words(figure.name, figure.after, traces.after)), .string(text.change(figure)),
            ])
        }
        return .object([
            ("verdict", .string(operation.verdict.rawValue)),
            ("kind", .string(group.map { GroupText.kind($0.key) } ?? "")),
            ("subject", .string(group.map { GroupText.subject($0.key) } ?? "")),
            ("site", .optional(group?.key.site?.description)), ("changes", .array(changes)),
            ("before", side(operation.before, operation.time?.before)),
            ("after", side(operation.after, operation.time?.after)),
            ("time", .optional(operation.time?.direction.rawValue)),
        ])
    }

    private static func side(_ group: EventGroup?, _ median: TimeChange.Median?) -> JSONValue {
        guard let group else { return .null }
        return .object([
            ("count", .unsigned(group.count)), ("total", .unsigned(group.totalTime)),
            ("median", .unsigned(median?.value ?? group.durations.percentile(50))),
        ])
    }

    private static func finding(_ change: ProfileDiff.FindingChange) -> JSONValue {
        .object([
            ("state", .string(change.state.rawValue)),
            ("finding", (change.after ?? change.before).map { PageFinding.value($0) } ?? .null),
        ])
    }

    private static func plan(_ plan: PlanChange) -> JSONValue {
        .object([
            ("shape", .string(GroupText.shape(plan.shape))), ("statement", .string(plan.text)),
            ("site", .optional(plan.site?.description)), ("before", .array(plan.before.map { .string($0) })),
            ("after", .array(plan.after.map { .string($0) })),
        ])
    }
}
