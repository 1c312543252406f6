import FaultlineReplay
import Foundation
import Glibc

/// What is left to do when somebody ends the command.
enum Interruption {
    /// From now on, a signal that ends the process removes the folders with copies first.
    ///
    /// For the main thread, once, before it makes others: they leave these signals to one that waits for nothing else, and
    /// none is lost until that one runs. What the process ignores, as under `nohup`, it goes on ignoring.
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
