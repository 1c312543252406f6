import FaultlineAnalysis
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace

/// The fetches of one line, to be done again on a copy, with what the program did with their rows.
struct FetchReplay {
    /// How the fetches are done.
    enum Manner {
        /// As the trace has them; what was made of the rows is made of them here too.
        case recorded(Remedy.Answer?)
        case changed(FetchChange)
        /// The store is asked for what was made of the rows.
        case answered(Remedy.Answer)
    }

    struct Execution {
        var sample: FetchSample.Execution
        /// Fetches of the trace for which it stands.
        var weight: Double
        /// `nil`: there is no predicate.
        var drawn: ValueDrawing.Candidate?
    }

    private let shape: ShapeEntry
    private let sort: [FetchSortDescriptor]
    private let reading: ResultReading
    var predicate: ShapePredicate?
    var executions: [Execution]
    /// Fetches that the trace has.
    let recorded: UInt64
    /// Pages that SQLite read from the file for the statement of each of them, on average; `nil`: nobody counted.
    let pageMisses: Double?
    /// Whether the fetches follow one another in one context, and their rows are not looked at.
    private let isLoop: Bool
    /// Whether some of the fetches stand for others of the trace.
    private let isSampled: Bool
    /// Values with which the predicate finds nothing; `nil`: there are none such.
    var absence: [PredicateValue]?
    /// The names of the property by which the rows are told apart; `nil`: they need not be.
    var grouping: [String]?

    /// Whether reading the rows that a fetch or a batch has loaded counts as time in the store, because it may load more.
    ///
    /// Otherwise it does not count, as it does not in a trace: how long it takes is up to the program, whose accessors may be
    /// quicker than `value(forKey:)`.
    var readingIsInStore: Bool

    /// Fetches that are done again.
    var count: UInt64 { UInt64(executions.count) }
    /// Whether the trace has the values of all these fetches.
    private var hasRecordedValues = false
    /// Whether values were drawn for the predicate.
    var drawsValues: Bool { predicate?.places.isEmpty == false && !hasRecordedValues }

    /// Rows that the fetches found in the trace.
    var rows: UInt64 { executions.reduce(0) { $0 &+ $1.sample.rows } }

    /// - Parameters:
    ///   - loop: Those of the fetches that are meant, each with a value of its own; `nil`: all.
    ///   - container: Opens a copy, from which values are drawn.
    ///   - recorder: The container's, which keeps its events in memory.
    /// - Throws: ``Untriable`` if the trace or the store has too little for it.
    init(
        _ profile: FetchProfile, loop: LoopEvidence? = nil, _ container: PersistentContainer, _ recorder: Recorder
    ) throws {
        let schema = container.managedObjectModel.schema
        shape = profile.key.shape
        guard let entity = schema.entity(named: shape.entity) else {
            throw Untriable("The store has no entity \(shape.entity).")
        }
        guard shape.resultType != "dictionaries" else {
            throw Untriable("Fetches of dictionaries are not done again.")
        }
        sort = shape.sort.compactMap { FetchSortDescriptor(shape: $0) }
        let samples = profile.sample.fetches
        guard !samples.isEmpty, profile.counts.executions > 0, sort.count == shape.sort.count else {
            throw Untriable("The trace tells too little of the fetches to do them again.")
        }
        isLoop = loop != nil
        recorded = loop?.executions ?? profile.counts.executions
        let statements = profile.counts.virtualMachineSteps > 0 ? profile.counts.statements : 0
        pageMisses = statements > 0 ? Double(profile.counts.pageMisses) / Double(statements) : nil
        reading = ResultReading(profile, entity, schema)
        readingIsInStore =
            reading.followsRelationships || shape.expressions != nil || shape.includesPropertyValues == false
        predicate = try Self.predicate(shape)
        // A program pages forward: after a later page, an earlier one would find the objects it shares in the row cache.
        var executions = samples.sorted { $0.execution.offset < $1.execution.offset }
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
        // What the trace knows of all fetches beside what the sample says of them.
        let size = Double(loop?.rows ?? profile.counts.rows) + Double(recorded) * Double(FetchSample.trip)
        let sampled = executions.reduce(0) { $0 + $1.weight * Double($1.sample.size) }
        for place in executions.indices { executions[place].weight *= size / max(1, sampled) }
        self.executions = executions
        isSampled = recorded > UInt64(executions.count)
    }

    private static func predicate(_ shape: ShapeEntry) throws -> ShapePredicate? {
        guard !shape.predicate.isEmpty else { return nil }
        guard let predicate = try ShapePredicate(shape.predicate) else {
            throw Untriable("Its predicate compares values in a way for which none can be drawn.")
        }
        return predicate
    }

    /// The fetches with the terms of their predicate in another order, and the same values.
    ///
    /// - Throws: ``Untriable`` if they have no such terms.
    func reordered(_ order: [Int]) throws -> FetchReplay {
        guard let other = predicate?.reordered(order) else {
            throw Untriable("The terms of its predicate cannot be put in another order.")
        }
        var replay = self
        replay.predicate = other
        return replay
    }

    // MARK: Doing it again

    /// Has the fetches' own statement prepared, which a program does once for all of them: where some stand for others, that
    /// must not be multiplied with the rest.
    func warmUp(_ manner: Manner, _ container: PersistentContainer) throws {
        guard isSampled, let absence, var execution = executions.first else { return }
        execution.drawn?.values = absence
        var timing = Timing(.thread)
        try run([execution], manner, container, &timing)
    }

    /// Does all fetches again, each in a context of its own or those of a loop in one, and adds what they took.
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
                // What cannot be read is told where it can be.
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
            if let grouping { timing.step(weight: weight) { tellApart(results, by: grouping) } }
        case (.changed(let change), _):
            let changed = request.changed(by: change)
            let results = try timing.step(weight: weight) { try context.fetch(changed) }
            use(results, execution, batchSize: changed.fetchBatchSize, &timing)
        }
    }

    /// Takes out the rows that the program took out, in its order; all of them, if it took out all.
    ///
    /// The first row of a batch, which loads it, is a step of its own, and work of the store. The others are one step: reading
    /// the clock takes as long as reading a row.
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

    /// Asks a result what the program asked of it.
    private func ask(_ results: FetchResults<ManagedObject>, for answer: Remedy.Answer?) {
        switch answer {
        case .count, .preview: _ = results.count
        case .existence: _ = results.isEmpty
        case .identities: _ = results.objectIDs
        // What was read of the rows is the number itself.
        case .fold, nil: break
        }
    }

    /// Reads of each row by what it is grouped.
    private func tellApart(_ results: FetchResults<ManagedObject>, by names: [String]) {
        for object in results {
            var object: ManagedObject? = object
            for name in names { object = object?.value(forKey: name) as? ManagedObject }
        }
    }

    /// Asks the store the same.
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
    /// Whether all rows were taken out, from the first to the last.
    fileprivate var isWhole: Bool { rows > 0 && runs == [TraceEvent.Use.Run(first: 0, rows: rows)] }

    /// The rows that the limit leaves of those that a predicate finds.
    func cut(_ count: Int) -> Int {
        let rest = max(0, count - Int(clamping: offset))
        return limit > 0 ? min(Int(clamping: limit), rest) : rest
    }
}
