import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("Waiting for a CPU")
struct RunDelayTests {
    /// A profile of a fetch of 40 ms, during which its thread waited for a CPU for 30 ms.
    private func profile(delay: UInt64 = 30_000_000) -> Profile {
        var music = Music()
        let shape = music.shape()
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.shape, fetch.rows, fetch.trips, fetch.bytes) = (music.track, shape, 50, 2, 5000)
        (fetch.prepare, fetch.step, fetch.materialise, fetch.wait) = (4_000_000, 20_000_000, 8_000_000, 1_000_000)
        music.trace.event(
            .fetch(fetch), duration: 40_000_000, site: music.fetchSite, runDelay: delay)
        return Profile(music.trace.closed())
    }

    @Test func `The times of fetches leave out waiting for a CPU`() throws {
        let fetch = try #require(profile().fetches.first)
        #expect(fetch.counts.time == 10_000_000 && fetch.speeds.time == 10_000_000)
        // Where in the fetch the thread waited is not known, so the parts shrink alike; a lock was waited for in full.
        #expect(fetch.counts.prepareTime == 1_000_000 && fetch.counts.stepTime == 5_000_000)
        #expect(fetch.counts.waitTime == 1_000_000)
    }

    @Test func `Without a delay, and in the sums of events, times are those of the events`() throws {
        let fetch = try #require(profile(delay: 0).fetches.first)
        #expect(fetch.counts.time == 40_000_000 && fetch.counts.stepTime == 20_000_000)
        let late = profile()
        #expect(late.totals.storeTime == 40_000_000)
        // A delay that is longer than its event leaves nothing.
        #expect(profile(delay: 50_000_000).fetches.first?.counts.time == 0)
    }
}
