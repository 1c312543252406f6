import Foundation
import Glibc

/// Handles the signals of this process.
enum Signals {
    /// The signals that end a program by default.
    static let ending = [SIGINT, SIGTERM, SIGHUP]

    static func set(of numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        return signals
    }

    /// Runs `body` so that exceeding the file size limit (`ulimit -f`) causes an error instead of ending the process.
    ///
    /// Programs started meanwhile inherit this.
    static func ignoringFileSizeLimit<Result>(_ body: () throws -> Result) rethrows -> Result {
        var (ignoring, before) = (sigaction(), sigaction())
        ignoring.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGXFSZ, &ignoring, &before)
        defer { sigaction(SIGXFSZ, &before, nil) }
        return try body()
    }

    /// Runs `body` while signals that would end the process are blocked.
    static func holdingBack<Result>(_ body: () throws -> Result) rethrows -> Result {
        var (signals, before) = (set(of: ending), sigset_t())
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }

    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return action.sa_flags & SA_SIGINFO == 0
            && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
