internal import FaultlineTrace

/// Detects fetches, batches, faults and saves that failed.
struct FailureDetector: EvidenceDetector {
    static let name = "failures"
    static let kinds: Set<EventKind> = [.fetch, .batch, .fault, .save]

    var evidence: [FailureEvidence.Key: FailureEvidence] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        var found = FailureEvidence()
        let code: UInt32
        let entities: [DictionaryID]
        switch event.detail {
        case .fetch(let fetch): (code, entities) = (fetch.error, [fetch.entity])
        case .batch(let batch): (code, entities) = (batch.error, [batch.entity])
        case .fault(let fault):
            // The call throws an error, so the program knows of the failure.
            if fault.isThrowing { return }
            (code, entities) = (fault.error, [fault.relationship == 0 ? fault.entity : fault.relationshipEntity])
            found.gone = fault.source == .gone ? 1 : 0
        case .save(let save):
            (code, entities) = (save.error, save.entities.map(\.entity))
            found.conflicts = UInt64(save.conflicts)
        default: return
        }
        guard code != 0 || found.gone > 0, !context.unit(of: event.scope).isSetup else { return }
        found.failures = 1
        found.time = event.duration
        // The upper bits of an extended code say more about the primary code in its lowest byte.
        if code != 0 { found.codes = [UInt64(code & 0xFF): 1] }
        found.scopes = context.scopes.peek(context.unit(of: event.scope).id)?.key.map { [$0: 1] } ?? [:]
        let site =
            switch event.kind {
            case .fault, .batch: context.causeSite(of: event)
            default: context.callSite(of: event)
            }
        let names = Set(entities.compactMap { context.entityName($0) }).sorted()
        add(found, to: FailureEvidence.Key(kind: event.kind, entities: names, site: site))
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}
