import Foundation
import Testing

/// The built command with a terminal of its own, as a user's shell would run it.
final class CommandOnTerminal {
    /// The streams of the command that are the terminal.
    enum Streams {
        case errors, outputAndErrors
    }

    private let process = Process()
    private let input = Pipe()
    private let terminal: FileHandle
    /// The text that the terminal has shown so far.
    private(set) var shown = ""

    /// - Parameters:
    ///   - columns: The width of the terminal, or `nil` for one that does not tell.
    ///   - term: The value of `TERM`.
    init(
        _ arguments: [String], streams: Streams = .errors, columns: UInt16? = nil, term: String = "xterm"
    ) throws {
        let leader = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(leader >= 0)
        terminal = FileHandle(fileDescriptor: leader, closeOnDealloc: true)
        // TIOCSPTLCK and TIOCGPTN, which Swift does not see.
        var (isLocked, number) = (Int32(0), Int32(0))
        try #require(ioctl(leader, 0x4004_5431, &isLocked) == 0 && ioctl(leader, 0x8004_5430, &number) == 0)
        if let columns {
            var size = winsize(ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
            try #require(ioctl(leader, UInt(TIOCSWINSZ), &size) == 0)
        }
        let follower = FileHandle(
            fileDescriptor: open("/dev/pts/\(number)", O_RDWR | O_NOCTTY), closeOnDealloc: true)
        process.executableURL = URL(fileURLWithPath: BuiltCommand.faultline)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["TERM": term, "NO_COLOR": ""]) { $1 }
        process.standardInput = input
        process.standardOutput = streams == .errors ? FileHandle.nullDevice : follower
        process.standardError = follower
        try process.run()
        try follower.close()
    }

    /// Reads what the terminal shows until it has some text, or until the command has ended.
    func read(until text: String? = nil) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while text.map({ !shown.contains($0) }) ?? true {
            let count = Foundation.read(terminal.fileDescriptor, &bytes, bytes.count)
            guard count > 0 else { return }
            shown += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
    }

    /// Types a character.
    func type(_ character: UInt8) throws { try terminal.write(contentsOf: [character]) }

    /// Ends the command's input.
    func closeInput() throws { try input.fileHandleForWriting.close() }

    /// Ends the command's input, and returns all that the terminal showed until the command ended.
    func finish() throws -> String {
        try closeInput()
        read()
        process.waitUntilExit()
        return shown
    }
}
