internal import FaultlineProfile

/// A result that the program shows one screenful at a time.
///
/// The pause while a screen waits for its batch matters, and so does the memory of unused rows; the total time matters
/// less. So the advised batch is half a screen larger than the screen, as Apple's engineers recommended (15 for 10
/// rows, 25 for 16).
struct ScreenBatches {
    /// The current batch size, or 0 if there is none.
    let size: UInt64
    /// The 95th percentile of the rows per screen.
    let screen: UInt64
    let windows: UInt64
    let byPauses: Bool
    let use: ResultUse
    let fetch: FetchProfile.Key

    /// The problem with the current size.
    enum Fault: Sendable, Hashable {
        case none, tooLarge, tooSmall, missing
    }

    /// The rows of a result, on average.
    var rows: Double { Double(use.rows) / Double(use.executions) }
    var advised: UInt64 { Self.size(forScreen: screen) }
    /// The number of rows that are loaded at a time.
    var loaded: Double { size == 0 ? rows : min(Double(size), rows) }

    var fault: Fault {
        let screen = Double(self.screen)
        if size == advised || screen == 0 { return .none }
        if size == 0 { return rows > 3 * screen ? .missing : .none }
        if size < self.screen { return advised > size ? .tooSmall : .none }
        return loaded > 2 * screen && size > advised ? .tooLarge : .none
    }

    /// The batch size for a screen: half a screen more than it shows, rounded up to a multiple of five, at most 100.
    static func size(forScreen rows: UInt64) -> UInt64 {
        min(100, max(5, (rows * 3 + 9) / 10 * 5))
    }
}
