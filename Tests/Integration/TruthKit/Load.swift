import Foundation

/// Processes that keep all cores busy.
public final class Load {
    private var spinners: [(process: Process, input: Pipe)] = []

    /// Starts one for each core: this program, which must answer to `spin` with ``spin()``.
    public init() throws {
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
            let (process, input) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: Command.own)
            process.arguments = ["spin"]
            process.standardInput = input
            try process.run()
            spinners.append((process, input))
        }
    }

    /// Ends them.
    public func stop() {
        for spinner in spinners {
            try? spinner.input.fileHandleForWriting.close()
            spinner.process.terminate()
            spinner.process.waitUntilExit()
        }
        spinners = []
    }

    /// Works until the input ends, so that nothing is left when the one that started it has gone.
    public static func spin() {
        Thread.detachNewThread {
            _ = FileHandle.standardInput.readDataToEndOfFile()
            exit(0)
        }
        var sum = 0.0
        while sum >= 0 { for number in 1...1_000_000 { sum += 1 / Double(number) } }
    }
}
