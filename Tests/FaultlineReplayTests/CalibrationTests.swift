import FaultlineReplay
import FaultlineTrace
import Foundation
import Testing

@Suite("Calibration")
struct CalibrationTests {
    @Test func `Calibration measures fetches of one row and of several`() throws {
        let trips = try Calibration.measure().trips
        let counts = Dictionary(grouping: trips, by: \.rows).mapValues(\.count)
        #expect(counts == [1: 10, 4: 10, 16: 10, 64: 10, 256: 10])
        #expect(trips.allSatisfy { $0.duration > 0 && $0.bytes >= 32 * $0.rows })
    }

    @Test func `Calibration measures the basic steps`() throws {
        let steps = try #require(try Calibration.measure().steps)
        #expect(steps.values.allSatisfy { $0 > 0 && $0 < 1e6 })
        // On a busy machine, differences may disappear in the noise, but whole rows do not.
        let rows: [CalibrationEntry.Step] = [.passedRow, .loadedRow, .identity]
        #expect(Set(rows.map(\.rawValue)).isSubset(of: steps.keys))
        #expect(Set(steps.keys).isSubset(of: CalibrationEntry.Step.allCases.map(\.rawValue)))
    }
}
