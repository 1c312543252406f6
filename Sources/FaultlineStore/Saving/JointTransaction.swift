/// Transactions of several stores: all the work and its checks are done in each of them before the first is committed.
///
/// A commit that fails all the same cannot take back those before it. So the stores that are likeliest to fail come first:
/// a binary store writes its whole file, and a store in memory cannot fail.
struct JointTransaction<Part: StoreTransaction> {
    private(set) var parts: [Part]
    /// The part that could not be written or committed.
    private(set) var failed: Int?
    /// The parts that were committed.
    private(set) var committed: [Int] = []

    /// - Parameter parts: one a store, in the order of the coordinator's stores, in which all who need several of them
    ///   lock them.
    init(_ parts: [Part]) {
        self.parts = parts
    }

    /// - Throws: ``StoreError`` if a part fails. If some were committed by then, the error says which.
    mutating func run(for origin: TraceOrigin) throws(StoreError) {
        failed = nil
        try write(from: 0, origin)
    }

    private mutating func write(from place: Int, _ origin: TraceOrigin) throws(StoreError) {
        guard place < parts.count else { return try commit() }
        let store = parts[place].store
        parts[place].willLock()
        try store.writer.locked(for: origin) { () throws(StoreError) in
            parts[place].didLock()
            do throws(StoreError) {
                try parts[place].write()
            } catch {
                failed = place
                throw error
            }
            do throws(StoreError) {
                try write(from: place + 1, origin)
            } catch {
                if failed != place, !committed.contains(place) { parts[place].rollBack() }
                throw error
            }
        }
    }

    private mutating func commit() throws(StoreError) {
        let order = parts.count == 1 ? [0] : parts.indices.sorted { rank($0) < rank($1) }
        var failure: StoreError?
        for place in order {
            do throws(StoreError) {
                try parts[place].commit()
                committed.append(place)
            } catch {
                failed = place
                failure = error
                break
            }
        }
        for place in committed { parts[place].finish() }
        guard var failure else { return }
        if !committed.isEmpty {
            let saved = committed.map { parts[$0].store }
            let names = saved.map { "'\($0.path)'" }.joined(separator: " and ")
            failure.message = "What belongs to \(names) was saved, and the rest was not: \(failure.message)"
            failure.savedStores = saved.map(\.identity)
        }
        throw failure
    }

    private func rank(_ place: Int) -> Int {
        switch parts[place].store.description.type {
        case .binary: 0
        case .sqlite: 1
        case .inMemory: 2
        }
    }
}
