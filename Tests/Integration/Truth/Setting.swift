/// The circumstances under which a workload is recorded and its advice measured.
struct Setting: Hashable, CustomStringConvertible {
    var workload: String
    var rows: Int
    /// The share of the rows that a search finds.
    var share: Double
    /// Whether the work was done once before it is recorded, so that pages, plans and statements are there.
    var isWarm: Bool
    /// Whether other processes keep all cores busy.
    var isBusy: Bool

    var description: String {
        "\(workload) \(rows) × \(share) \(isWarm ? "warm" : "cold") \(isBusy ? "busy" : "idle")"
    }

    private static let sizes: [(rows: Int, share: Double)] = [(1000, 0.02), (8000, 0.002), (8000, 0.2), (40_000, 0.02)]

    /// All workloads at all sizes, each on an idle and on a busy machine, by turns with warm and with cold caches.
    static var all: [Setting] {
        Workload.names.enumerated().flatMap { place, name in
            sizes.enumerated().flatMap { size, figures in
                [false, true].map { isBusy in
                    Setting(
                        workload: name, rows: figures.rows, share: figures.share,
                        isWarm: (place + size + (isBusy ? 1 : 0)).isMultiple(of: 2), isBusy: isBusy)
                }
            }
        }
    }
}
