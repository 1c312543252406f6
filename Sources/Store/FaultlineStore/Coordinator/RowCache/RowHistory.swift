/// Remembers, while recording, when each row entered the row cache.
///
/// A fault that reads the row again can then record how long ago that was, and how much has entered the cache since.
///
/// A row takes 16 bytes, and 256 consecutive keys share a page. Rows are remembered up to a total of 64 MiB of pages, and
/// up to a primary key of 64 million.
struct RowHistory: ~Copyable {
    /// The last time at which a row entered the cache.
    struct Past {
        /// The time since then, in nanoseconds.
        var age: UInt64
        /// Bytes of rows that have entered the cache since then.
        var loadedSince: UInt64
    }

    private struct Stamp {
        /// The time in nanoseconds, or 0 if the cache never had the row.
        var time: UInt64
        /// The total that had entered the cache, in bytes.
        var loaded: UInt64
    }

    private static let keysPerPage = 256
    private static let maximumKey: Int64 = 1 << 26
    private static let maximumPages = 1 << 14

    /// The pages of stamps, by root entity and by key divided by ``keysPerPage``.
    private var pages: [[UnsafeMutablePointer<Stamp>?]]
    private var pageCount = 0

    init(roots: Int) {
        pages = Array(repeating: [], count: roots)
    }

    deinit {
        for page in pages.joined() { page?.deallocate() }
    }

    /// Records that a row enters the cache.
    ///
    /// - Parameters:
    ///   - time: The time in nanoseconds.
    ///   - loaded: Bytes of rows that have entered the cache so far.
    mutating func insert(_ key: Int64, root: Int, time: UInt64, loaded: UInt64) {
        guard let (number, index) = Self.place(of: key) else { return }
        if number >= pages[root].count {
            let count = max(number + 1, pages[root].count * 2) - pages[root].count
            pages[root].append(contentsOf: repeatElement(nil, count: count))
        }
        guard let page = pages[root][number] ?? addPage(number, root) else { return }
        page[index] = Stamp(time: time, loaded: loaded)
    }

    /// The number of a key's page, and the key's index in it; `nil` for a key that is not remembered.
    @inline(__always)
    private static func place(of key: Int64) -> (page: Int, index: Int)? {
        guard key >= 0, key < maximumKey else { return nil }
        let (page, index) = Int(key).quotientAndRemainder(dividingBy: keysPerPage)
        return (page, index)
    }

    private mutating func addPage(_ number: Int, _ root: Int) -> UnsafeMutablePointer<Stamp>? {
        guard pageCount < Self.maximumPages else { return nil }
        pageCount += 1
        let page = UnsafeMutablePointer<Stamp>.allocate(capacity: Self.keysPerPage)
        page.initialize(repeating: Stamp(time: 0, loaded: 0), count: Self.keysPerPage)
        pages[root][number] = page
        return page
    }

    /// The last time at which a row entered the cache; `nil` if it never did.
    func past(of key: Int64, root: Int, time: UInt64, loaded: UInt64) -> Past? {
        guard let (number, index) = Self.place(of: key), number < pages[root].count, let page = pages[root][number],
            page[index].time != 0
        else { return nil }
        let stamp = page[index]
        return Past(age: time - min(time, stamp.time), loadedSince: loaded &- stamp.loaded)
    }
}
