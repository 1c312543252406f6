import FaultlineReplay
import FaultlineTrace
import Foundation
import Testing

@Suite("Calibration")
struct CalibrationTests {
    @Test func `It measures trips of single rows and of some more`() throws {
        let trips = try Calibration.measure().trips
        let counts = Dictionary(grouping: trips, by: \.rows).mapValues(\.count)
        #expect(counts == [1: 16, 4: 8, 16: 8, 64: 8, 256: 8])
        #expect(trips.allSatisfy { $0.duration > 0 && $0.bytes >= 32 * $0.rows })
    }
}
