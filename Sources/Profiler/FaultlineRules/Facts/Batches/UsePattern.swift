internal import FaultlineProfile
internal import FaultlineTrace

/// The way a program reads the rows of a result, which determines the best batch size.
enum UsePattern: Sendable, Hashable {
    /// A screenful at a time.
    ///
    /// `rows` is the 95th percentile of the rows per screen. `byPauses` says that pauses between rows mark the screens,
    /// because no scope does.
    case screens(rows: UInt64, windows: UInt64, byPauses: Bool)
    /// One row after another, without pauses.
    case bulk

    /// The minimum number of screens that show a pattern.
    static let minimumWindows = Threshold(
        "R02", "minimumWindows", 3, .count, "screens that suffice to evaluate a fetch with fewer results")

    /// The pattern in which the rows of a fetch's results were read.
    ///
    /// Scopes of the kind `screen` decide if there are any, and pauses between the rows otherwise.
    init(_ use: ResultUse) {
        if let screens = use.windows[.screen] {
            // Rows read by bulk work outweigh those of screens only where there are more of them.
            let bulk = [TraceEvent.Scope.Kind.bulk, .request, .test].reduce(0) { $0 &+ Self.rows(use.windows[$1]) }
            self = Self.rows(screens) >= bulk ? Self.screens(of: screens, byPauses: false) : .bulk
            return
        }
        self = .bulk
        guard let pauses = use.windows[.none], use.windows.keys.allSatisfy({ $0 == nil || $0 == .setup }) else {
            return
        }
        let screens = Self.screens(of: pauses, byPauses: true)
        guard case .screens(let rows, let windows, _) = screens, windows >= Self.minimumWindows.count,
            rows <= use.maximumRows / 2
        else { return }
        self = screens
    }

    /// - Parameter widths: The number of windows by the rows that each showed.
    private static func screens(of widths: [UInt64: UInt64], byPauses: Bool) -> UsePattern {
        let windows = widths.values.reduce(0, &+)
        let rank = UInt64((Double(windows) * 0.95).rounded(.up))
        var seen: UInt64 = 0
        for (rows, count) in widths.ordered(on: \.key) {
            seen &+= count
            if seen >= rank { return .screens(rows: rows, windows: windows, byPauses: byPauses) }
        }
        return .bulk
    }

    private static func rows(_ widths: [UInt64: UInt64]?) -> UInt64 {
        (widths ?? [:]).reduce(0) { $0 &+ $1.key &* $1.value }
    }
}
