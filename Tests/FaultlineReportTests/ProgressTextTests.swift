import Testing

@testable import FaultlineReport

@Suite("The text of a progress bar")
struct ProgressTextTests {
    @Test func `has a bar, the rate and the time left`() {
        let reading = ProgressText("reading trace.json", .bytes)
        #expect(
            reading.line(64 << 20, of: 200 << 20, after: 0.5, width: 100)
                == "reading trace.json [██████▍             ] 32 %, 128 MiB/s, 2 s left")
        #expect(
            reading.line(200 << 20, of: 200 << 20, after: 2, width: 100)
                == "reading trace.json [████████████████████] 100 %, 100 MiB/s, 0 s left")
        #expect(
            ProgressText("merging", .things("file")).line(3, of: 400, after: 2, width: 100)
                == "merging [▏                   ] 0.8 %, 1.5 files/s, 4 min 25 s left")
    }

    @Test func `has no rate before anything is done`() {
        #expect(
            ProgressText("trying", .things("finding")).line(0, of: 4, after: 3, width: 80) == "trying ["
                + String(repeating: " ", count: 20) + "] 0.0 %")
        #expect(ProgressText("trying", .things("finding")).line(0, of: 0, after: 0, width: 80).hasSuffix("] 100 %"))
    }

    @Test(arguments: [0, 1, 10, 40, 60, 80])
    func `fits the line`(width: Int) {
        let line = ProgressText("reading a-trace-with-a-long-name.json", .bytes)
            .line(7, of: 5, after: 1e9, width: width)
        #expect(line.count <= width)
    }
}
