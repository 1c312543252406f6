import FaultlineTrace

/// Dictionary entries with the numbers that they get in a trace which had none.
struct EntryTable {
    private(set) var entries: [DictionaryEntry] = []
    private var ids: [DictionaryEntry: DictionaryID] = [:]

    /// The number of an entry, the next one if it is new.
    mutating func id(_ entry: DictionaryEntry) -> DictionaryID {
        if let known = ids[entry] { return known }
        entries.append(entry)
        ids[entry] = DictionaryID(entries.count)
        return DictionaryID(entries.count)
    }

    /// Gives every entry to a reader's caller, in the order of their numbers.
    func forEach(of process: UInt32, _ body: (TraceMessage) throws -> Void) rethrows {
        for (index, entry) in entries.enumerated() {
            try body(.entry(process: process, id: DictionaryID(index + 1), entry))
        }
    }
}
