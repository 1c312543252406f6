internal import CTraceSchema

/// Reads the lists that follow an event's fields, one after the other, and stops at the end of the record's words.
struct ListReader {
    private var words: ArraySlice<UInt64>

    init(_ record: UnsafePointer<fl_event>) {
        let count = min(Int(record.pointee.listWords), Int(FL_MAXIMUM_LIST_WORDS))
        let offset = MemoryLayout<fl_event>.offset(of: \.lists)!
        let first = UnsafeRawPointer(record).advanced(by: offset).assumingMemoryBound(to: UInt64.self)
        words = Array(UnsafeBufferPointer(start: first, count: count))[...]
    }

    mutating func take<Entry>(
        _ count: UInt32, words width: Int, _ entry: (UnsafeBufferPointer<UInt64>) -> Entry
    ) -> [Entry] {
        let entries = min(Int(count), words.count / width)
        defer { words = words.dropFirst(entries * width) }
        return words.withUnsafeBufferPointer { buffer in
            (0..<entries).map { entry(UnsafeBufferPointer(rebasing: buffer[($0 * width)..<(($0 + 1) * width)])) }
        }
    }
}
