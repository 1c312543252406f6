import Foundation
import Glibc

/// Signals that are sent to this process.
enum Signals {
    /// Those that end a program that has nothing of its own for them.
    static let ending = [SIGINT, SIGTERM, SIGHUP]

    static func set(of numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        return signals
    }

    /// Does `body` so that writing beyond the limit on the size of files (`ulimit -f`) fails and does not end the process.
    ///
    /// Programs that are started meanwhile would be spared as well.
    static func sparingLimitedFiles<Result>(_ body: () throws -> Result) rethrows -> Result {
        var (ignoring, before) = (sigaction(), sigaction())
        ignoring.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGXFSZ, &ignoring, &before)
        defer { sigaction(SIGXFSZ, &before, nil) }
        return try body()
    }

    /// Does `body` to its end before signals arrive that end the process.
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
