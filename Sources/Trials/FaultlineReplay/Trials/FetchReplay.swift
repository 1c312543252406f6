import FaultlineFindings
import FaultlineModel
import FaultlineProfile
import FaultlineRecorder
import FaultlineRules
import FaultlineStore
import FaultlineTrace

/// The fetches of one line, to replay on a copy with the program's use of their rows.
struct FetchReplay {
    /// The way to run the fetches.
    enum Manner {
        /// As recorded, followed by the answer that the program derived from the rows.
        case recorded(Remedy.Answer?)
        case changed(FetchChange)
        /// With a request for the answer instead.
        case answered(Remedy.Answer)
    }

    struct Execution {
        var sample: FetchSample.Execution
        /// The number of recorded fetches it stands for.
        var weight: Double
        /// `nil` if there is no predicate.
        var drawn: ValueDrawing.Candidate?
    }

    private let shape: ShapeEntry
    private let sort: [FetchSortDescriptor]
    private let reading: ResultReading
    var predicate: ShapePredicate?
    var executions: [Execution]
    /// The number of recorded fetches.
    let recorded: UInt64
    /// The mean number of pages SQLite read from the file for the statement of a fetch, or `nil` if they were not
    /// counted.
    let pageMisses: Double?
    /// Whether the fetches run one after the other in one context, and their rows are not read.
    private let isLoop: Bool
    /// Whether some of the fetches stand for others in the trace.
    private let isSampled: Bool
    /// Values for which the predicate finds nothing, or `nil` if there are none.
    var absence: [PredicateValue]?
    /// The key path by which the rows must be grouped, or `nil` if they need not be.
    var grouping: [String]?

    /// Whether reading the rows of a fetch or a batch counts as time in the store, because it may load more.
    ///
    /// Otherwise it does not count, as in a trace. Its duration depends on the program, whose accessors may be faster
    /// than `value(forKey:)`.
    var readingIsInStore: Bool

    /// The number of replayed fetches.
    var count: UInt64 { UInt64(executions.count) }
    /// Whether the trace has the values of all these fetches.
    private var hasRecordedValues = false
    /// Whether the values for the predicate were drawn from the copy.
    var drawsValues: Bool { predicate?.positions.isEmpty == false && !hasRecordedValues }

    /// The number of rows that the fetches found in the trace.
    var rows: UInt64 { executions.reduce(0) { $0 &+ $1.sample.rows } }

    /// - Parameters:
    ///   - loop: The loop to replay, in which each fetch has a value of its own, or `nil` for all fetches.
    ///   - container: Opens a copy, from which values are drawn.
    ///   - recorder: The container's recorder, which keeps its events in memory.
    /// - Throws: ``Untriable`` if the trace or the store has too little data.
    init(
        _ profile: FetchProfile, loop: RunSums? = nil, _ container: PersistentContainer, _ recorder: Recorder
    ) throws {
        let schema = container.managedObjectModel.schema
        shape = profile.key.shape
        guard let entity = schema.entity(named: shape.entity) else {
            throw Untriable("The store has no entity \(shape.entity).")
        }
        guard shape.resultType != "dictionaries" else {
            throw Untriable("Fetches of dictionaries are not replayed.")
        }
        sort = shape.sort.compactMap { FetchSortDescriptor(shape: $0) }
        let samples = profile.sample.fetches
        guard !samples.isEmpty, profile.counts.executions > 0, sort.count == shape.sort.count else {
            throw Untriable("The trace has too little data about the fetches to replay them.")
        }
        isLoop = loop != nil
        recorded = loop?.executions ?? profile.counts.executions
        let statements = profile.counts.virtualMachineSteps > 0 ? profile.counts.statements : 0
        pageMisses = statements > 0 ? Double(profile.counts.pageMisses) / Double(statements) : nil
        reading = ResultReading(profile, entity, schema)
        readingIsInStore =
            reading.followsRelationships || shape.expressions != nil || shape.includesPropertyValues == false
        predicate = try Self.predicate(shape)
        // A program pages forward. After a later page, an earlier one would find the objects they share in the row
        // cache.
        var executions = samples.ordered(on: \.execution.offset)
            .map { Execution(sample: $0.execution, weight: $0.times) }
        if let predicate {
            let likes = (shape.terms ?? []).filter { $0.operation == "LIKE" }.map(\.wildcards)
            let drawing = ValueDrawing(shape: predicate, wildcards: likes, entity: entity, schema: schema)
            let choice = ValueChoice(
                drawing: drawing, textMatches: profile.counts.meanTextMatches,
                fetchesOfLoop: loop.map { Int(clamping: $0.executions / max(1, $0.occurrences)) })
            let context = container.newBackgroundContext()
            let coordinator = container.persistentStoreCoordinator
            (executions, hasRecordedValues, absence) = try context.performAndWait { [executions] in
                let (executions, areRecorded) = try choice.executions(for: executions, context, coordinator, recorder)
                let values = executions.first?.drawn?.values ?? []
                let absence = try drawing.absence(like: values, context, coordinator, recorder)
                return (executions, areRecorded, absence?.values)
            }
        }
        // Scales the weights of the sample to the recorded totals of all fetches.
        let size = Double(loop?.rows ?? profile.counts.rows) + Double(recorded) * Double(FetchSample.trip)
        let sampled = executions.reduce(0) { $0 + $1.weight * Double($1.sample.size) }
        for position in executions.indices { executions[position].weight *= size / max(1, sampled) }
        self.executions = executions
        isSampled = recorded > UInt64(executions.count)
    }

    private static func predicate(_ shape: ShapeEntry) throws -> ShapePredicate? {
        guard !shape.predicate.isEmpty else { return nil }
        guard let predicate = try ShapePredicate(shape.predicate) else {
            throw Untriable("No values can be drawn for the comparisons of its predicate.")
        }
        return predicate
    }

    /// Returns the fetches with the same values, but with the terms of their predicate in another order.
    ///
    /// - Throws: ``Untriable`` if the predicate has no such terms.
    func reordered(_ order: [Int]) throws -> FetchReplay {
        guard let other = predicate?.reordered(order) else {
            throw Untriable("The terms of its predicate cannot be reordered.")
        }
        var replay = self
        replay.predicate = other
        return replay
    }

    // MARK: - Running

    /// Prepares the fetches' own statement.
    ///
    /// A program prepares it once for all fetches, so the time must not be multiplied by the weights.
    func warmUp(_ manner: Manner, _ container: PersistentContainer) throws {
        guard isSampled, let absence, var execution = executions.first else { return }
        execution.drawn?.values = absence
        var timing = Timing(.thread)
        try run([execution], manner, container, &timing)
    }

    /// Runs all fetches, each in its own context (or in a shared one for a loop), and adds their times.
    func run(_ manner: Manner, _ container: PersistentContainer, _ timing: inout Timing) throws {
        try run(executions, manner, container, &timing)
    }

    private func run(
        _ executions: [Execution], _ manner: Manner, _ container: PersistentContainer, _ timing: inout Timing
    ) throws {
        let shared = isLoop ? container.newBackgroundContext() : nil
        for execution in executions {
            var request = FetchRequest<ManagedObject>(
                entityName: shape.entity, sortDescriptors: sort, fetchLimit: Int(clamping: execution.sample.limit),
                fetchOffset: Int(clamping: execution.sample.offset),
                fetchBatchSize: Int(clamping: execution.sample.batchSize),
                relationshipKeyPathsForPrefetching: shape.prefetch,
                includesPropertyValues: shape.includesPropertyValues != false)
            if let predicate, let drawn = execution.drawn {
                let coordinator = container.persistentStoreCoordinator
                request.predicate = try predicate.predicate(drawn.values, in: coordinator)
            }
            if let expressions = shape.expressions {
                request.propertiesToFetch = expressions.map { ExpressionDescription($0, .keyPath($0)) }
            }
            let context = shared ?? container.newBackgroundContext()
            try context.performAndWait {
                defer { if !isLoop { context.reset() } }
                try run(request, manner, execution, context, &timing)
                // Read errors surface here, where they can be thrown.
                try context.throwReadError()
            }
        }
    }

    private func run(
        _ request: FetchRequest<ManagedObject>, _ manner: Manner, _ execution: Execution,
        _ context: ManagedObjectContext, _ timing: inout Timing
    ) throws {
        let weight = execution.weight
        switch (manner, shape.resultType) {
        case (.answered(let answer), _): try self.answer(answer, request, execution, context, &timing)
        case (_, "count"):
            timing.found += UInt64(try timing.step(weight: weight) { try context.count(for: request) })
        case (_, "objectIDs"):
            timing.found += UInt64(try timing.step(weight: weight) { try context.fetchObjectIDs(request) }.count)
        case (.recorded(let answer), _):
            let results = try timing.step(weight: weight) { try context.fetch(request) }
            timing.found += UInt64(results.count)
            if !isLoop { use(results, execution, batchSize: request.fetchBatchSize, &timing) }
            timing.step(weight: weight) { ask(results, for: answer) }
            if let grouping { timing.step(weight: weight) { group(results, by: grouping) } }
        case (.changed(let change), _):
            let changed = request.changed(by: change)
            let results = try timing.step(weight: weight) { try context.fetch(changed) }
            use(results, execution, batchSize: changed.fetchBatchSize, &timing)
        }
    }

    /// Reads the rows that the program used, in its order, or all rows if it used all of them.
    ///
    /// The first row of a batch loads the batch, so it is a separate step and counts as time in the store. The other
    /// rows form one step, because reading the clock takes as long as reading a row.
    private func use(
        _ results: FetchResults<ManagedObject>, _ execution: Execution, batchSize: Int, _ timing: inout Timing
    ) {
        let sample = execution.sample
        let count = results.count
        var number = 0
        for run in sample.isWhole ? [TraceEvent.Use.Run(first: 0, rows: UInt64(count))] : sample.runs {
            var index = min(count, Int(clamping: run.first))
            let end = index + min(count - index, Int(clamping: run.rows))
            var isFirst = batchSize > 0
            while index < end {
                let next = batchSize > 0 ? (index / batchSize + 1) * batchSize : end
                let step = isFirst ? index..<(index + 1) : index..<min(end, next)
                timing.step(
                    weight: execution.weight, parts: step.count, isInStore: readingIsInStore || isFirst
                ) {
                    for row in step { reading.read(results[row], number: number + row - index) }
                }
                number += step.count
                index = step.upperBound
                isFirst = batchSize > 0 && index.isMultiple(of: batchSize)
            }
        }
    }

    /// Asks a result for the same answers as the program did.
    private func ask(_ results: FetchResults<ManagedObject>, for answer: Remedy.Answer?) {
        switch answer {
        case .count, .preview: _ = results.count
        case .existence: _ = results.isEmpty
        case .identities: _ = results.objectIDs
        // The rows that were read already contain the number.
        case .fold, nil: break
        }
    }

    /// Reads, from each row, the objects by which rows are grouped.
    private func group(_ results: FetchResults<ManagedObject>, by names: [String]) {
        for object in results {
            var object: ManagedObject? = object
            for name in names { object = object?.value(forKey: name) as? ManagedObject }
        }
    }

    /// Requests the answer from the store.
    private func answer(
        _ answer: Remedy.Answer, _ request: FetchRequest<ManagedObject>, _ execution: Execution,
        _ context: ManagedObjectContext, _ timing: inout Timing
    ) throws {
        var request = request
        let weight = execution.weight
        switch answer {
        case .count: _ = try timing.step(weight: weight) { try context.count(for: request) }
        case .existence:
            request.fetchLimit = 1
            _ = try timing.step(weight: weight) { try context.fetchObjectIDs(request).isEmpty }
        case .identities: _ = try timing.step(weight: weight) { try context.fetchObjectIDs(request) }
        case .fold(let property):
            request.resultType = .dictionary
            request.sortDescriptors = []
            request.relationshipKeyPathsForPrefetching = []
            request.fetchBatchSize = 0
            request.propertiesToFetch = [ExpressionDescription("sum", .function(.sum, property))]
            _ = try timing.step(weight: weight) { try context.fetchDictionaries(request) }
        case .preview(let rows):
            _ = try timing.step(weight: weight) { try context.count(for: request) }
            request.fetchLimit = Int(clamping: rows)
            let results = try timing.step(weight: weight) { try context.fetch(request) }
            use(results, execution, batchSize: request.fetchBatchSize, &timing)
        }
    }
}

extension FetchSample.Execution {
    /// Whether all rows were used, from the first to the last.
    fileprivate var isWhole: Bool { rows > 0 && runs == [TraceEvent.Use.Run(first: 0, rows: rows)] }

    /// The number of matching rows that remain after offset and limit.
    func cut(_ count: Int) -> Int {
        let rest = max(0, count - Int(clamping: offset))
        return limit > 0 ? min(Int(clamping: limit), rest) : rest
    }
}
