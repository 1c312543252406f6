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

    private struct Execution {
        var sample: FetchSample.Execution
        /// `nil`: there is no predicate.
        var drawn: ValueDrawing.Candidate?
    }

    private let shape: ShapeEntry
    private let sort: [FetchSortDescriptor]
    private let reading: ResultReading
    private var predicate: ShapePredicate?
    private let executions: [Execution]
    /// Fetches that the trace has.
    let recorded: UInt64

    /// Fetches that are done again.
    var count: UInt64 { UInt64(executions.count) }
    /// Fetches of the trace for each of those.
    private var weight: Double { Double(recorded) / Double(max(1, executions.count)) }
    /// Whether the trace has the values of all these fetches.
    private var hasRecordedValues = false
    /// Whether values were drawn for the predicate.
    var drawsValues: Bool { predicate?.places.isEmpty == false && !hasRecordedValues }

    /// Rows that the fetches found in the trace.
    var rows: UInt64 { executions.reduce(0) { $0 &+ $1.sample.rows } }

    /// - Parameters:
    ///   - container: Opens a copy, from which values are drawn.
    ///   - recorder: The container's, which keeps its events in memory.
    /// - Throws: ``Untriable`` if the trace or the store has too little for it.
    init(_ profile: FetchProfile, _ container: PersistentContainer, _ recorder: Recorder) throws {
        let schema = container.managedObjectModel.schema
        shape = profile.key.shape
        guard let entity = schema.entity(named: shape.entity) else {
            throw Untriable("The store has no entity \(shape.entity).")
        }
        guard shape.resultType != "dictionaries" else {
            throw Untriable("Fetches of dictionaries are not done again.")
        }
        sort = shape.sort.compactMap { FetchSortDescriptor(shape: $0) }
        let samples = profile.sample.executions
        guard !samples.isEmpty, profile.counts.executions > 0, sort.count == shape.sort.count else {
            throw Untriable("The trace tells too little of the fetches to do them again.")
        }
        recorded = profile.counts.executions
        reading = ResultReading(profile, entity, schema)
        predicate = try Self.predicate(shape)
        guard let predicate else {
            executions = samples.map { Execution(sample: $0) }
            return
        }
        let likes = (shape.terms ?? []).filter { $0.operation == "LIKE" }.map(\.wildcards)
        let drawing = ValueDrawing(shape: predicate, wildcards: likes, entity: entity, schema: schema)
        let context = container.newBackgroundContext()
        let coordinator = container.persistentStoreCoordinator
        let known = samples.map { sample in
            sample.values.flatMap { PredicateValue.values($0) }.flatMap {
                $0.count == predicate.places.count ? $0 : nil
            }
        }
        hasRecordedValues = !known.contains(nil)
        executions = try context.performAndWait {
            guard known.contains(nil) else {
                return try zip(samples, known).map { sample, values in
                    Execution(
                        sample: sample,
                        drawn: try drawing.candidate(values ?? [], context, coordinator, recorder))
                }
            }
            let candidates = try drawing.candidates(context, coordinator, recorder)
            return Self.assign(candidates, to: samples, textMatches: profile.counts.meanTextMatches)
        }
    }

    private static func predicate(_ shape: ShapeEntry) throws -> ShapePredicate? {
        guard !shape.predicate.isEmpty else { return nil }
        guard let predicate = try ShapePredicate(shape.predicate) else {
            throw Untriable("Its predicate compares values in a way for which none can be drawn.")
        }
        return predicate
    }

    /// Gives each fetch the values with which it finds about as many rows as it did, each set as seldom as possible.
    ///
    /// - Parameter textMatches: Texts that fitted in one of the recorded fetches; `nil`: none were searched.
    private static func assign(
        _ candidates: [ValueDrawing.Candidate], to samples: [FetchSample.Execution], textMatches: Double?
    ) -> [Execution] {
        var uses = Array(repeating: 0, count: candidates.count)
        return samples.map { sample in
            let order = { (place: Int) in
                let candidate = candidates[place]
                let rows = distance(Double(sample.cut(candidate.count)), Double(sample.rows))
                let texts = textMatches.map { distance(candidate.textMatches, $0) } ?? 1
                // Finding nothing is work of another kind.
                let isOther = (candidate.count > 0) != (sample.rows > 0)
                return (isOther ? 1 : 0, Int(max(rows, texts) * 4), uses[place], place)
            }
            let best = candidates.indices.min { order($0) < order($1) } ?? 0
            uses[best] += 1
            return Execution(sample: sample, drawn: candidates[best])
        }
    }

    /// How far one number is from another: twice as many are as far away as half as many.
    private static func distance(_ one: Double, _ other: Double) -> Double {
        let ratio = (one + 1) / (other + 1)
        return min(1e6, max(ratio, 1 / ratio))
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

    /// Does all fetches again, each in a context of its own, and adds what they took.
    func run(_ manner: Manner, _ container: PersistentContainer, _ timing: inout Timing) throws {
        for execution in executions {
            var request = FetchRequest<ManagedObject>(
                entityName: shape.entity, sortDescriptors: sort, fetchLimit: Int(clamping: execution.sample.limit),
                fetchOffset: Int(clamping: execution.sample.offset),
                fetchBatchSize: Int(clamping: execution.sample.batchSize),
                relationshipKeyPathsForPrefetching: shape.prefetch)
            if let predicate, let drawn = execution.drawn {
                let coordinator = container.persistentStoreCoordinator
                request.predicate = try predicate.predicate(drawn.values, in: coordinator)
            }
            if let expressions = shape.expressions {
                request.propertiesToFetch = expressions.map { ExpressionDescription($0, .keyPath($0)) }
            }
            let context = container.newBackgroundContext()
            try context.performAndWait {
                defer { context.reset() }
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
        let sample = execution.sample
        switch (manner, shape.resultType) {
        case (.answered(let answer), _): try self.answer(answer, request, sample, context, &timing)
        case (_, "count"):
            timing.found += UInt64(try timing.step(weight: weight) { try context.count(for: request) })
        case (_, "objectIDs"):
            timing.found += UInt64(try timing.step(weight: weight) { try context.fetchObjectIDs(request) }.count)
        case (.recorded(let answer), _):
            let results = try timing.step(weight: weight) { try context.fetch(request) }
            timing.found += UInt64(results.count)
            use(results, sample, &timing)
            timing.step(weight: weight) { ask(results, for: answer) }
        case (.changed(let change), _):
            let changed = request.changed(by: change)
            use(try timing.step(weight: weight) { try context.fetch(changed) }, sample, &timing)
        }
    }

    /// Takes out the rows that the program took out, in its order; all of them, if it took out all.
    private func use(
        _ results: FetchResults<ManagedObject>, _ sample: FetchSample.Execution, _ timing: inout Timing
    ) {
        let count = results.count
        var number = 0
        for run in sample.isWhole ? [TraceEvent.Use.Run(first: 0, rows: UInt64(count))] : sample.runs {
            let first = min(count, Int(clamping: run.first))
            for index in first..<(first + min(count - first, Int(clamping: run.rows))) {
                timing.step(weight: weight) { reading.read(results[index], number: number) }
                number += 1
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

    /// Asks the store the same.
    private func answer(
        _ answer: Remedy.Answer, _ request: FetchRequest<ManagedObject>, _ sample: FetchSample.Execution,
        _ context: ManagedObjectContext, _ timing: inout Timing
    ) throws {
        var request = request
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
            use(try timing.step(weight: weight) { try context.fetch(request) }, sample, &timing)
        }
    }
}

extension FetchSample.Execution {
    /// Whether all rows were taken out, from the first to the last.
    fileprivate var isWhole: Bool { rows > 0 && runs == [TraceEvent.Use.Run(first: 0, rows: rows)] }

    /// The rows that the limit leaves of those that a predicate finds.
    fileprivate func cut(_ count: Int) -> Int {
        let rest = max(0, count - Int(clamping: offset))
        return limit > 0 ? min(Int(clamping: limit), rest) : rest
    }
}
