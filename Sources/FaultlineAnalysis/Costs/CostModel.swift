public import FaultlineTrace

/// How sure a figure is.
public enum Confidence: Int, Sendable, Hashable, CaseIterable, Comparable {
    case low, medium, high

    public static func < (a: Confidence, b: Confidence) -> Bool { a.rawValue < b.rawValue }

    /// What a saving counts for when findings are ranked.
    var weight: Double {
        switch self {
        case .low: 0.4
        case .medium: 0.7
        case .high: 1
        }
    }
}

/// What trips to the store cost, estimated from the trips of the trace.
public struct CostModel: Sendable {
    /// Where an estimate comes from.
    public enum Basis: String, Sendable, Hashable, CaseIterable {
        /// Trips of the same shape, of different sizes.
        case shape
        /// Trips of the same shape that are all of one size; what a trip costs without rows is the store's.
        case size
        /// Trips of the whole store.
        case store
        /// Trips that were measured where the trace was recorded, in a store of their own, since the trace has too few of
        /// different sizes.
        case calibration
        /// Assumptions, since nothing was measured either.
        case assumed
    }

    /// The cost of trips of one shape.
    public struct Estimate: Sendable, Hashable {
        public var line: CostLine
        /// Lines that fit as well, from which ranges are taken.
        public var alternatives: [CostLine]
        public var basis: Basis
        /// Trips that the estimate rests on.
        public var trips: UInt64

        public var confidence: Confidence {
            switch basis {
            case .shape: .high
            case .size: trips < CostModel.minimumSizedTrips ? .low : .medium
            case .store: .medium
            case .calibration, .assumed: .low
            }
        }

        /// The median of a figure that follows from the costs, and the range in which 80 % of its estimates lie.
        public func range(_ figure: (CostLine) -> Double) -> (median: Double, low: Double, high: Double) {
            let figures = ([line] + alternatives).map(figure).sorted()
            let at = { (share: Double) in figures[Int((share * Double(figures.count - 1)).rounded())] }
            let middle = figure(line)
            return (middle, min(middle, at(0.1)), max(middle, at(0.9)))
        }

        /// The same where a figure hangs on an assumption as well: the median with what is usual, and the range from the
        /// assumption that makes it least to the one that makes it most.
        func range<Assumption>(
            usual: Assumption, least: Assumption, most: Assumption, _ figure: (CostLine, Assumption) -> Double
        ) -> (median: Double, low: Double, high: Double) {
            (
                range { figure($0, usual) }.median, range { figure($0, least) }.low, range { figure($0, most) }.high
            )
        }

        /// What trips took without what only a few of them took, such as the first ones, which prepare statements and read
        /// pages; all of it where the shape's own trips do not tell.
        ///
        /// - Parameter line: One of those that fit.
        func typical(_ time: Double, trips: Double, rows: Double, _ line: CostLine) -> Double {
            basis == .shape ? min(time, line.cost(trips: trips, rows: rows)) : time
        }

        /// How sure a saving is of which a part was measured and a part follows from the costs: the measured part
        /// outweighs what the estimate may be wrong by, or it does not.
        func confidence(in saving: (median: Double, low: Double, high: Double)) -> Confidence {
            guard saving.median > 0 else { return .low }
            let isNarrow = saving.high - saving.low <= saving.median / 2
            switch basis {
            case .calibration, .assumed: return isNarrow ? .medium : .low
            case .shape, .size, .store: return isNarrow ? .high : .medium
            }
        }
    }

    /// The minimum trips, and different numbers of rows, to fit a line.
    public static let minimumTrips: UInt64 = 20
    public static let minimumDistinctRows = 3
    /// The minimum number of equal-sized trips before a cost per row is trusted.
    static let minimumSizedTrips: UInt64 = 3
    /// The minimum rows of a single trip from which a cost per row is taken.
    static let minimumSizedRows: UInt64 = 20
    static let rounds = 60

    /// What is assumed where nothing can be fitted: a cached point query outside a transaction, and a row of a few
    /// columns (7.6–8.7 µs and
    /// 0.4–2 µs were measured on a small virtual machine).
    public static let assumed = CostLine(trip: 10_000, row: 1_000)
    /// The part of a trip that remains beside a full scan, in nanoseconds, for a statement that returns no rows.
    static let emptyTrip = 0.3 * assumed.trip
    /// What a byte of a long value is assumed to cost, in nanoseconds: about 3 µs a page of 4 KiB (0.2–1.5 ns were measured,
    /// the most of them where memory has to be had from the system first).
    public static let assumedByte = 0.8

    /// What SQLite takes for a row that it steps over and does not hand out, in nanoseconds, and the range in which that
    /// lies: 20–90 ns were measured of rows that are counted, and up to 150 ns of those of which a value is summed up.
    static let steppedRow = StepCost(usual: 60, least: 20, most: 150)

    /// What a row takes whose relationship is looked up to be prefetched, in nanoseconds, whether it is there already or
    /// not, and the range in which that lies: 60–100 ns were measured.
    static let prefetchedRow = 80.0
    static let prefetchedRows = 20.0...200.0

    /// What of a row's cost is left where SQLite reads it to sort it and does not hand it out, and the range in which that
    /// lies: 0.5–0.6 were measured of rows with long texts.
    static let sortedRow = 0.5
    static let sortedRows = 0.1...0.7

    /// What a value of a list takes beside the rows that it finds, and what telling the rows apart takes for each of them,
    /// in nanoseconds, and the ranges in which those lie: 0.5–2 µs and 200–400 ns were measured.
    static let listed = (value: 1000.0, row: 300.0)
    static let leastListed = (value: 300.0, row: 100.0)
    static let mostListed = (value: 2500.0, row: 600.0)

    /// What reading a page that the system has in memory is assumed to take, in nanoseconds, and the range in which that
    /// lies.
    static let page = StepCost(usual: 1500, least: 300, most: 3500)

    /// How much longer a trip takes among an app's other work than where one comes after the other, for traces that have next
    /// to no trips to compare with what was measured beside them.
    ///
    /// 1.5–1.8 times were measured.
    static let amongOthers = 1.5
    /// How much less or more it may be all the same.
    static let calibrationRange = [0.5, 2]

    /// The cost over all trips of the store.
    public let store: Estimate
    /// The cost of basic steps on the machine.
    let machine: MachineCosts
    /// What a save costs and what each object that it changes does; `nil`: the trace has too few saves of different sizes.
    public let saves: Estimate?
    /// What a byte of a row costs, in nanoseconds.
    public let byte: Double
    /// Whether ``byte`` was fitted to the trace; otherwise it was measured on the machine, or it is assumed.
    public let isByteFitted: Bool
    /// What the quickest fetches of the trace take, in nanoseconds: what a fetch takes by itself is no more; `nil`: none
    /// came often enough.
    let quickestFetch: Double?
    private let shapes: [ShapeEntry: Estimate]
    private let identities: [ShapeEntry: Estimate]

    /// Fits the costs of every shape of a profile.
    ///
    /// - Complexity: O(shapes); each fit looks at a few hundred trips.
    public init(_ profile: Profile) {
        let general = profile.loads.count > 0 ? profile.loads : profile.statements
        let store = Self.fitStore(general, profile.calibration)
        self.store = store
        machine = MachineCosts(profile.steps)
        saves = Self.fit(profile.saveLoads, basis: .store, seed: 2)
        var shapes: [ShapeEntry: Estimate] = [:]
        var identities: [ShapeEntry: Estimate] = [:]
        for loads in profile.allShapes {
            let seed = StableHash.text(loads.shape.sortText)
            shapes[loads.shape] =
                Self.fit(loads.rows, basis: .shape, seed: seed) ?? Self.fitSize(loads.rows, trip: store.line.trip)
            identities[loads.shape] = Self.fit(loads.identities, basis: .shape, seed: seed)
        }
        self.shapes = shapes
        self.identities = identities
        quickestFetch = profile.fetches.filter { $0.speeds.count >= Growth.minimumFetches }
            .map { $0.speeds.quantile(0.1) }.min()
        let fitted = Self.fitByte(
            profile.allShapes.sorted { $0.shape.sortText < $1.shape.sortText }.flatMap { $0.rows.loads },
            trip: store.line.trip)
        byte = fitted ?? machine.byte ?? Self.assumedByte
        isByteFitted = fitted != nil
    }

    /// What a byte costs in rows of a shape, and how far that can be wrong.
    ///
    /// If it could not be fitted, long rows tell it all the same: nearly all that they cost beyond short ones is for
    /// their bytes.
    ///
    /// - Parameter rowSize: In bytes.
    func byte(of shape: ShapeEntry, rowSize: Double) -> (cost: Double, factor: Double, confidence: Confidence) {
        if isByteFitted { return (byte, 1.5, .medium) }
        if machine.byte != nil { return (byte, MachineCosts.byteFactor, .medium) }
        guard rowSize >= 4096, let estimate = shapes[shape] else { return (byte, 2.5, .low) }
        let short = min(estimate.line.row / 2, store.basis == .assumed ? Self.assumed.row : store.line.row)
        return ((estimate.line.row - short) / rowSize, 2, .low)
    }

    /// The cost of loading whole rows of a shape.
    public func rows(of shape: ShapeEntry) -> Estimate { shapes[shape] ?? store }

    /// The cost of finding the identities of a batched fetch's rows; without a fit a quarter of what rows cost.
    public func identities(of shape: ShapeEntry) -> Estimate {
        if let estimate = identities[shape] { return estimate }
        var estimate = rows(of: shape)
        estimate.line.row /= 4
        for index in estimate.alternatives.indices { estimate.alternatives[index].row /= 4 }
        estimate.basis = estimate.basis == .shape ? .store : estimate.basis
        return estimate
    }
}

extension CostModel {
    /// What sorting so many rows is assumed to take, in nanoseconds: 50 ns a comparison.
    static func sorting(_ rows: Double) -> Double { 50 * rows * max(2, rows).binaryLogarithm }
}
