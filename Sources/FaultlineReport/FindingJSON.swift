internal import FaultlineAnalysis
internal import FaultlineTrace

/// Findings as JSON.
enum FindingJSON {
    static func value(_ finding: Finding) -> JSONValue {
        .sorted([
            "rule": .string(finding.rule), "ruleName": .string(finding.ruleName), "title": .string(finding.title.text),
            "severity": .string(finding.severity.name), "score": .number(finding.score),
            "confidence": .string("\(finding.confidence.level)"),
            "confidenceReason": finding.confidence.reason.map { .string($0) } ?? .null,
            "change": SiteJSON.value(finding.change),
            "seenAt": .array(finding.seenAt.map(sighting)), "samples": .array(finding.samples.map(sample)),
            "scopes": .array(finding.scopes.map { .string($0) }),
            "evidence": .array(finding.evidence.map(evidence)), "batchCurve": finding.batchCurve.map(curve) ?? .null,
            "explanation": .array(finding.explanation.map { .string($0.text) }), "fix": .string(finding.fix.text),
            "alternatives": .array(finding.alternatives.map { .string($0.text) }),
            "code": .array(finding.code.map { .string($0) }), "saving": saving(finding.saving),
            "try": .optional(finding.advice?.description),
            "reservations": .array(finding.reservations.map { .string($0.text) }),
            "signature": .string(finding.signature),
        ])
    }

    private static func sighting(_ sighting: Finding.Sighting) -> JSONValue {
        .sorted([
            "site": SiteJSON.value(sighting.site), "count": .unsigned(sighting.count), "time": .unsigned(sighting.time),
        ])
    }

    private static func sample(_ sample: EventSample) -> JSONValue {
        .sorted([
            "process": .unsigned(UInt64(sample.process)), "event": .unsigned(sample.event),
            "duration": .unsigned(sample.duration),
        ])
    }

    private static func evidence(_ evidence: Evidence) -> JSONValue {
        .sorted([
            "name": .string(evidence.name), "value": .number(evidence.value), "unit": .string(evidence.unit.rawValue),
        ])
    }

    private static func curve(_ curve: BatchCurve) -> JSONValue {
        .sorted([
            "current": .unsigned(curve.current), "advised": .unsigned(curve.advised),
            "plateau": .array(curve.plateau.map { .unsigned($0) }),
            "points": .array(
                curve.points.map { point in
                    .sorted([
                        "batchSize": .unsigned(point.batchSize), "cost": .number(point.cost),
                        "wait": .number(point.wait), "memory": .number(point.memory),
                    ])
                }),
        ])
    }

    static func saving(_ saving: Saving) -> JSONValue {
        .sorted([
            "time": range(saving.time), "alone": saving.alone.map(range) ?? .null,
            "after": .array(saving.after.map { .integer(Int64($0)) }), "pause": saving.pause.map(range) ?? .null,
            "trips": .integer(saving.trips),
            "rows": .integer(saving.rows), "bytes": .integer(saving.bytes), "memory": .integer(saving.memory),
        ])
    }

    static func range(_ range: Saving.Range) -> JSONValue {
        .sorted(["median": .number(range.median), "low": .number(range.low), "high": .number(range.high)])
    }
}

/// Call sites as JSON.
enum SiteJSON {
    static func value(_ site: CallSite?) -> JSONValue {
        guard let site else { return .null }
        return .sorted([
            "file": .string(site.file), "line": .integer(Int64(site.line)), "function": .string(site.function),
            "text": .string(site.description),
        ])
    }
}
