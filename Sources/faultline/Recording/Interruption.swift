import FaultlineReplay
import Foundation
import Glibc

/// Clean-up when the command is interrupted.
enum Interruption {
    /// Makes signals that end the process first remove the folders with copies.
    ///
    /// Call it once, on the main thread, before other threads are created. They inherit the blocked signals and leave
    /// them to a dedicated thread, so none is lost before that thread runs. Signals that the process ignores, as under
    /// `nohup`, stay ignored.
    static func removeCopiesFirst() {
        let numbers = Signals.ending.filter { !Signals.isIgnored($0) }
        var signals = Signals.set(of: numbers)
        guard !numbers.isEmpty, pthread_sigmask(SIG_BLOCK, &signals, nil) == 0 else { return }
        Thread.detachNewThread {
            var signals = Signals.set(of: numbers)
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { return }
            ScratchFolders.removeAll {
                signal(number, SIG_DFL)
                pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                kill(getpid(), number)
                sleep(1)
            }
        }
    }
}
