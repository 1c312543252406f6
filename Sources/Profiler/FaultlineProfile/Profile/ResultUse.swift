package import FaultlineTrace

/// The use of the results of fetches with one shape, line and batch size.
package struct ResultUse: Sendable {
    /// The cost of loading in batches of one size.
    package struct Loading: Sendable, Hashable {
        /// The number of batches that contain a touched row.
        package var batches: UInt64 = 0
        /// The rows of these batches.
        package var rows: UInt64 = 0

        package init() {}
    }

    /// The batch sizes that are tried on every result.
    ///
    /// 0 stands for all rows at once.
    package static let candidates: [UInt64] =
        [0] + stride(from: 5, through: 100, by: 5) + [150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000]

    /// The number of results.
    package internal(set) var executions: UInt64 = 0
    /// The number of results without a touched row.
    package internal(set) var untouched: UInt64 = 0
    /// The rows that matched, over all results.
    package internal(set) var rows: UInt64 = 0
    /// The rows of the longest result.
    package internal(set) var maximumRows: UInt64 = 0
    package internal(set) var limitedExecutions: UInt64 = 0
    package internal(set) var loadedRows: UInt64 = 0
    package internal(set) var touchedRows: UInt64 = 0
    package internal(set) var batchesLoaded: UInt64 = 0
    package internal(set) var countAsked: UInt64 = 0
    /// The part of ``countAsked`` that only asked whether there is a row.
    package internal(set) var emptinessAsked: UInt64 = 0
    /// Rows whose object was changed or deleted.
    package internal(set) var modifiedRows: UInt64 = 0
    /// The bytes of column values in the loaded rows.
    package internal(set) var bytes: UInt64 = 0
    /// Runs that did not fit the summaries.
    ///
    /// ``loadings`` do not include their rows.
    package internal(set) var runsLost: UInt64 = 0
    /// The number of windows by the number of rows touched in them and the kind of their scope.
    package internal(set) var windows: [TraceEvent.Scope.Kind?: [UInt64: UInt64]] = [:]
    /// The cost of loading the touched rows with each batch size.
    package internal(set) var loadings: [UInt64: Loading] = [:]
    /// The number of results whose rows were all used in one window, although the program read a property of less than
    /// half of them.
    package internal(set) var materialised: UInt64 = 0
    /// The number of rows of these results, and how many of them had a property read.
    package internal(set) var materialisedRows: UInt64 = 0
    package internal(set) var materialisedRowsRead: UInt64 = 0
    /// The lines that caused loads, with the number of rows they loaded.
    package internal(set) var loadSites: [CallSite?: UInt64] = [:]
    /// The number of loads in each scope.
    package internal(set) var loadScopes: [ScopeSummary.Key: UInt64] = [:]
    /// The number of loads, and of loads on a main thread.
    package internal(set) var loads: UInt64 = 0
    package internal(set) var mainThreadLoads: UInt64 = 0
    /// The number of results that the program still held at the end, and might use further.
    package internal(set) var openExecutions: UInt64 = 0
    /// The purposes of the other results, except those without rows.
    package var needs: [ResultNeed: ResultTally] = [:]

    package init() {}

    /// Adds the use of one result.
    package mutating func add(_ use: TraceEvent.Use, isLimited: Bool) {
        executions &+= 1
        untouched &+= use.touchedRows == 0 ? 1 : 0
        rows &+= UInt64(use.rows)
        maximumRows = max(maximumRows, UInt64(use.rows))
        limitedExecutions &+= isLimited ? 1 : 0
        loadedRows &+= UInt64(use.loadedRows)
        touchedRows &+= UInt64(use.touchedRows)
        batchesLoaded &+= UInt64(use.batchesLoaded)
        countAsked &+= UInt64(use.countAsked)
        emptinessAsked &+= UInt64(use.emptinessAsked)
        modifiedRows &+= UInt64(use.modifiedRows)
        bytes &+= use.bytes
        runsLost &+= UInt64(use.runsLost)
        for window in use.windows where window.times > 0 {
            // Widths above 4,096 rows are rounded down to a multiple of 1,024, to keep the table small.
            let width = window.rows <= 4096 ? window.rows : window.rows / 1024 * 1024
            windows[window.scopeKind, default: [:]][width, default: 0] &+= window.times
        }
        addLoadings(use)
        addMaterialisation(use)
    }

    /// Adds the purpose of a result, which is known only at its end.
    ///
    /// - Parameters:
    ///   - time: The time of fetching the result and loading its rows, in nanoseconds, or 0 if unknown.
    ///   - unread: The objects of the result that saves wrote.
    mutating func add(_ need: ResultNeed?, of use: TraceEvent.Use, time: UInt64, _ unread: UnreadRows?) {
        guard use.state == .closed else {
            openExecutions &+= 1
            return
        }
        guard let need else { return }
        let isWhole = need == .all || need == .identities
        var tally = ResultTally()
        (tally.executions, tally.rows, tally.touchedRows) = (1, UInt64(use.rows), UInt64(use.touchedRows))
        tally.mostTouched = UInt64(isWhole ? use.rows : use.touchedRows)
        (tally.bytes, tally.time, tally.counted) = (use.bytes, time, use.countAsked > use.emptinessAsked ? 1 : 0)
        if need.isWritten, let unread { tally.written = unread.written }
        needs[need, default: ResultTally()].merge(tally)
    }

    private mutating func addLoadings(_ use: TraceEvent.Use) {
        let intervals = Self.disjoint(use.runs)
        for size in Set(Self.candidates + [UInt64(use.batchSize)]) {
            let loading = Self.loading(intervals, size: size, of: UInt64(use.rows))
            loadings[size, default: Loading()].batches &+= loading.batches
            loadings[size, default: Loading()].rows &+= loading.rows
        }
    }

    private mutating func addMaterialisation(_ use: TraceEvent.Use) {
        let rows = UInt64(use.rows)
        guard use.batchSize > 0, rows >= 2 * UInt64(use.batchSize), use.touchedRows == use.rows,
            use.windows.contains(where: { $0.rows == rows }), !use.properties.isEmpty
        else { return }
        let read = use.properties.map(\.rowsRead).max() ?? 0
        guard Double(read) * 2 < Double(rows) else { return }
        materialised &+= 1
        materialisedRows &+= rows
        materialisedRowsRead &+= read
    }

    /// The rows of the runs as disjoint ranges in ascending order.
    static func disjoint(_ runs: [TraceEvent.Use.Run]) -> [Range<UInt64>] {
        let ranges = runs.filter { $0.rows > 0 }.map { $0.first..<($0.first &+ $0.rows) }
        var result: [Range<UInt64>] = []
        for range in ranges.ordered(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }

    /// The batches of a size that contain a row of the ascending intervals, in a result of `rows` rows.
    static func loading(_ intervals: [Range<UInt64>], size: UInt64, of rows: UInt64) -> Loading {
        var loading = Loading()
        guard size > 0 else {
            (loading.batches, loading.rows) = (rows > 0 ? 1 : 0, rows)
            return loading
        }
        var next: UInt64 = 0
        for interval in intervals {
            let first = max(next, interval.lowerBound / size)
            let last = (interval.upperBound - 1) / size
            guard first <= last else { continue }
            loading.batches &+= last - first + 1
            let end = min(rows, (last + 1) * size)
            loading.rows &+= end > first * size ? end - first * size : 0
            next = last + 1
        }
        return loading
    }
}

extension ResultUse: Summed, StartsEmpty {
    package static let parts: [SumPart<ResultUse>] = [
        .sum("executions", \.executions), .sum("untouched", \.untouched), .sum("rows", \.rows),
        .sum("limitedExecutions", \.limitedExecutions), .sum("loadedRows", \.loadedRows),
        .sum("touchedRows", \.touchedRows), .sum("batchesLoaded", \.batchesLoaded),
        .sum("countAsked", \.countAsked), .sum("emptinessAsked", \.emptinessAsked),
        .sum("modifiedRows", \.modifiedRows), .sum("bytes", \.bytes), .sum("runsLost", \.runsLost),
        .sum("materialised", \.materialised), .sum("materialisedRows", \.materialisedRows),
        .sum("materialisedRowsRead", \.materialisedRowsRead), .sum("loads", \.loads),
        .sum("mainThreadLoads", \.mainThreadLoads), .sum("openExecutions", \.openExecutions),
        .maximum("maximumRows", \.maximumRows), .part("windows", \.windows), .part("loadings", \.loadings),
        .part("loadSites", \.loadSites), .part("loadScopes", \.loadScopes), .part("needs", \.needs),
    ]
}

extension ResultUse.Loading: Summed, StartsEmpty {
    package static let parts: [SumPart<ResultUse.Loading>] = [
        .sum("batches", \.batches), .sum("rows", \.rows),
    ]
}

extension ResultTally: Summed, StartsEmpty {
    package static let parts: [SumPart<ResultTally>] = [
        .sum("executions", \.executions), .sum("rows", \.rows), .sum("touchedRows", \.touchedRows),
        .sum("bytes", \.bytes), .sum("time", \.time), .sum("counted", \.counted),
        .maximum("mostTouched", \.mostTouched), .part("written", \.written),
    ]
}
