import FaultlineTrace

/// Numbers the dictionary entries of a trace whose format has none.
struct EntryTable {
    private(set) var entries: [DictionaryEntry] = []
    private var ids: [DictionaryEntry: DictionaryID] = [:]

    /// Returns an entry's number, assigning the next one if the entry is new.
    mutating func id(_ entry: DictionaryEntry) -> DictionaryID {
        if let known = ids[entry] { return known }
        entries.append(entry)
        ids[entry] = DictionaryID(entries.count)
        return DictionaryID(entries.count)
    }

    /// Passes every entry to `body`, in the order of their numbers.
    func forEach(of process: UInt32, _ body: (TraceMessage) throws -> Void) rethrows {
        for (index, entry) in entries.enumerated() {
            try body(.entry(process: process, id: DictionaryID(index + 1), entry))
        }
    }
}
