package import FaultlineProfile
package import FaultlineTrace

/// The costs of trips to the store, estimated from the trips of the trace.
package struct CostModel: Sendable {
    /// The source of an estimate.
    package enum Basis: String, Sendable, Hashable, CaseIterable {
        /// Trips of the same shape and different sizes.
        case shape
        /// Trips of the same shape that are all of one size.
        ///
        /// The fixed cost per trip is the store's.
        case size
        /// Trips of the whole store.
        case store
        /// Trips that were measured in a separate store on the machine that recorded the trace, because the trace has
        /// too few trips of different sizes.
        case calibration
        /// Assumed costs, because there is no calibration either.
        case assumed
    }

    /// The cost of trips of one shape.
    package struct Estimate: Sendable, Hashable {
        package var line: CostLine
        /// Other lines that fit as well.
        ///
        /// Ranges are computed from them.
        package var alternatives: [CostLine]
        package var basis: Basis
        /// The number of trips the estimate is based on.
        package var trips: UInt64

        package var confidence: Confidence {
            switch basis {
            case .shape: .high
            case .size where trips < CostModel.minimumSizedTrips: .low("the fetch made too few trips")
            case .size: .medium("all trips of the fetch have the same number of rows")
            case .store: .medium("the cost of a row is an average over all fetches")
            case .calibration: .low(Self.calibrated)
            case .assumed: .low(Self.assumed)
            }
        }

        private static let calibrated =
            "the costs of trips and rows were measured by \"faultline record\" on a test store, not in this program"
        private static let assumed = "the costs of trips and rows are assumed, as the trace has too few trips"

        /// The median of a figure derived from the costs, and the range that holds 80 % of its estimates.
        package func range(_ figure: (CostLine) -> Double) -> (median: Double, low: Double, high: Double) {
            let figures = ([line] + alternatives).map(figure).sorted()
            let at = { (share: Double) in figures[Int((share * Double(figures.count - 1)).rounded())] }
            let middle = figure(line)
            return (middle, min(middle, at(0.1)), max(middle, at(0.9)))
        }

        /// The median and the range of a figure that also depends on an assumption.
        ///
        /// The median uses the usual value. The range extends from the low end with `least` to the high end with
        /// `most`.
        package func range<Assumption>(
            usual: Assumption, least: Assumption, most: Assumption, _ figure: (CostLine, Assumption) -> Double
        ) -> (median: Double, low: Double, high: Double) {
            (
                range { figure($0, usual) }.median, range { figure($0, least) }.low, range { figure($0, most) }.high
            )
        }

        /// Limits a time to the cost of the fitted trips, to exclude outliers such as first trips, which prepare
        /// statements and read pages.
        ///
        /// Returns all of `time` unless the estimate is based on the shape's own trips.
        ///
        /// - Parameter line: The fitted line or one of its alternatives.
        package func typical(_ time: Double, trips: Double, rows: Double, _ line: CostLine) -> Double {
            basis == .shape ? min(time, line.cost(trips: trips, rows: rows)) : time
        }

        /// The confidence in a saving that is part measurement and part estimate.
        ///
        /// It is higher if the range is at most half the median: the measured part then outweighs the error of the
        /// estimate.
        package func confidence(in saving: (median: Double, low: Double, high: Double)) -> Confidence {
            guard saving.median > 0 else { return .low("the change may cost as much as it saves") }
            let isNarrow = saving.high - saving.low <= saving.median / 2
            switch basis {
            case .calibration: return isNarrow ? .medium(Self.calibrated) : .low(Self.calibrated)
            case .assumed: return isNarrow ? .medium(Self.assumed) : .low(Self.assumed)
            case .shape, .size, .store: return isNarrow ? .high : .medium("the range of the saving is wide")
            }
        }
    }

    /// The minimum number of trips, and of different row counts, to fit a line.
    package static let minimumTrips: UInt64 = 20
    package static let minimumDistinctRows = 3
    /// The minimum number of equal-sized trips before a cost per row is trusted.
    static let minimumSizedTrips: UInt64 = 3
    /// The minimum number of rows of a single trip from which a cost per row is estimated.
    static let minimumSizedRows: UInt64 = 20
    static let rounds = 60

    /// The costs assumed where nothing can be fitted: a cached point query outside a transaction, and a row of a few
    /// columns.
    ///
    /// On a small virtual machine, these took 7.6–8.7 µs and 0.4–2 µs.
    package static let assumed = CostLine(trip: 10_000, row: 1_000)
    /// The fixed cost, in nanoseconds, of a full scan that returns no rows.
    package static let emptyTrip = 0.3 * assumed.trip
    /// The assumed cost of a byte of a long value, in nanoseconds: about 3 µs for a page of 4 KiB.
    ///
    /// Measured: 0.2–1.5 ns, the most where the allocator must first get memory from the system.
    package static let assumedByte = 0.8

    /// The time SQLite takes to step over a row that it does not return, in nanoseconds, with its range.
    ///
    /// Measured: 20–90 ns for counted rows, and up to 150 ns for rows with a value that is summed.
    package static let steppedRow = StepCost(usual: 60, least: 20, most: 150)

    /// The time to look up a row's relationship for a prefetch, in nanoseconds, whether or not its destination is
    /// already loaded, and the range of that time.
    ///
    /// 60–100 ns were measured.
    package static let prefetchedRow = 80.0
    package static let prefetchedRows = 20.0...200.0

    /// The share of a row's cost that remains where SQLite reads the row to sort it but does not return it, and the
    /// range of that share.
    ///
    /// 0.5–0.6 were measured for rows with long texts.
    package static let sortedRow = 0.5
    package static let sortedRows = 0.1...0.7

    /// The cost of a value in an `IN` list beyond the rows it finds, and the cost per row of grouping rows by value, in
    /// nanoseconds, with their ranges.
    ///
    /// 0.5–2 µs and 200–400 ns were measured.
    package static let listed = (value: 1000.0, row: 300.0)
    package static let minimumListed = (value: 300.0, row: 100.0)
    package static let maximumListed = (value: 2500.0, row: 600.0)

    /// The assumed time to read a page from the system's cache, in nanoseconds, with its range.
    static let page = StepCost(usual: 1500, least: 300, most: 3500)

    /// The factor by which a trip among an app's other work is slower than one in a tight loop.
    ///
    /// It scales the calibration if the trace has almost no trips to compare it with. 1.5–1.8 were measured.
    static let amongOthers = 1.5
    /// The range of error, as factors, of scaled calibrations.
    static let calibrationRange = [0.5, 2]

    /// The cost of trips over all shapes of the store.
    package let store: Estimate
    /// The costs of basic steps on the machine.
    package let machine: MachineCosts
    /// The cost of a save and of each object it changes, or `nil` if the trace has too few saves of different sizes.
    package let saves: Estimate?
    /// The cost of a byte of a row, in nanoseconds.
    package let byte: Double
    /// Whether ``byte`` was fitted to the trace.
    ///
    /// Otherwise it was measured on the machine, or is assumed.
    package let isByteFitted: Bool
    /// The time of the trace's quickest fetches, in nanoseconds, or `nil` if no fetch ran often enough.
    ///
    /// The fixed cost of a fetch is at most this time.
    let quickestFetch: Double?
    private let shapes: [ShapeEntry: Estimate]
    private let identities: [ShapeEntry: Estimate]

    /// Fits the costs of every shape of a profile.
    ///
    /// - Complexity: O(shapes). Each fit examines a few hundred trips.
    package init(_ profile: Profile) {
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
            profile.allShapes.ordered(on: \.shape.sortText).flatMap { $0.rows.loads },
            trip: store.line.trip)
        byte = fitted ?? machine.byte ?? Self.assumedByte
        isByteFitted = fitted != nil
    }

    package static let byteAssumed = "the cost of a byte is assumed, as the trace has too few rows of different sizes"

    /// The cost of a byte in rows of a shape, its factor of error, and the confidence in it.
    ///
    /// If the cost could not be fitted, it is estimated from long rows, whose extra cost over short rows is nearly all
    /// for their bytes.
    ///
    /// - Parameter rowSize: In bytes.
    package func byte(of shape: ShapeEntry, rowSize: Double) -> (cost: Double, factor: Double, confidence: Confidence) {
        if isByteFitted { return (byte, 1.5, .medium("the cost of a byte is fitted")) }
        if machine.byte != nil {
            return (
                byte, MachineCosts.byteFactor,
                .medium("the cost of a byte was measured by \"faultline record\" on a test store, not in this program")
            )
        }
        guard rowSize >= 4096, let estimate = shapes[shape] else { return (byte, 2.5, .low(Self.byteAssumed)) }
        let short = min(estimate.line.row / 2, store.basis == .assumed ? Self.assumed.row : store.line.row)
        return ((estimate.line.row - short) / rowSize, 2, .low("the cost of a byte is estimated from rows of one size"))
    }

    /// The cost of loading whole rows of a shape.
    package func rows(of shape: ShapeEntry) -> Estimate { shapes[shape] ?? store }

    /// The cost of finding the identities of a batched fetch's rows: fitted, or else a quarter of the rows' cost.
    package func identities(of shape: ShapeEntry) -> Estimate {
        if let estimate = identities[shape] { return estimate }
        var estimate = rows(of: shape)
        estimate.line.row /= 4
        for index in estimate.alternatives.indices { estimate.alternatives[index].row /= 4 }
        estimate.basis = estimate.basis == .shape ? .store : estimate.basis
        return estimate
    }
}

extension CostModel {
    /// The assumed time to sort a number of rows, in nanoseconds: 50 ns per comparison.
    package static func sorting(_ rows: Double) -> Double { 50 * rows * max(2, rows).binaryLogarithm }

    /// The time for a byte of a row that SQLite sorts, in nanoseconds, with its range.
    ///
    /// The sorter carries every selected column, not only the keys. 1.0–1.9 were measured for rows of 256 bytes to 20 KiB.
    package static let sortedByte = StepCost(usual: 1.3, least: 0.9, most: 2)
    /// The size of a row, in bytes, up to which its columns cost little beside the comparisons.
    package static let narrowRow = 256.0
}

extension CostLine {
    /// The cost of trips that seek with an index and do not sort.
    ///
    /// It is at most the assumed cost, because a fit to trips that scan or sort includes that work.
    package var sought: CostLine {
        CostLine(trip: min(trip, CostModel.assumed.trip), row: min(row, CostModel.assumed.row))
    }
}

extension MachineCosts {
    /// The cost of a row that SQLite steps over, and of a page that it reads from the file, measured or assumed.
    package var steppedRow: StepCost { cost(.passedRow, assumed: CostModel.steppedRow) }
    package var page: StepCost { cost(.page, assumed: CostModel.page) }
}

/// Estimates the costs that batching does not save.
extension CostModel {
    /// The extra time, in nanoseconds, to load a row of a batch, which SQLite seeks by its identity, instead of loading
    /// it in a scan.
    package static let soughtRow = 500.0

    /// The range of error, as a factor, of the costs that batching does not save.
    package static let identityRange = 0.5...2.0

    /// The cost of finding the identities of a fetch's rows, before the first batch is loaded.
    ///
    /// SQLite scans and sorts as many rows for the identities as for whole rows. Batches only defer reading the columns
    /// and making the objects.
    func identities(of fetch: FetchProfile) -> Estimate {
        var estimate = identities(of: fetch.key.shape)
        let (counts, found) = (fetch.counts, fetch.counts.foundRows)
        // A fit to the shape's own trips includes the scan and the sort.
        guard estimate.basis != .shape, counts.isSplit, found >= 1 else { return estimate }
        let sorting = counts.sorts > 0 ? Self.sorting(found) : 0
        let work = machine.steppedRow.usual * max(counts.scannedRows, 2 * found) + sorting
        let row = min(work, counts.meanRunTime) / found
        estimate.line.row = row
        for index in estimate.alternatives.indices { estimate.alternatives[index].row = row }
        return estimate
    }
}

extension Profile {
    /// The cost of finding the identities of a fetch's rows.
    package func identities(of key: FetchProfile.Key, _ costs: CostModel) -> CostModel.Estimate {
        fetch(key).map { costs.identities(of: $0) } ?? costs.identities(of: key.shape)
    }
}

extension Double {
    /// An approximate base-2 logarithm of a number of at least 1, linear between powers of two and accurate within 0.1.
    var binaryLogarithm: Double { Double(exponent) + (significand - 1) }
}

/// The cost of searching one text, in nanoseconds.
///
/// 150–300 ns were measured for short titles.
package enum TextSearchCost {
    package static let usual = 300.0
    /// The range of the cost of a single search.
    package static let range = 100.0...3000.0
}
