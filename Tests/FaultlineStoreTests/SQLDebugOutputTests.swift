import FaultlineModel
import FaultlineStore
import Foundation
import Glibc
import Testing

@Suite("The SQL log does not stop a program whose standard error is unusable")
struct SQLDebugOutputTests {
    private static func save() throws {
        let folder = try TestStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try PersistentContainer(
            name: "Test", managedObjectModel: try .init(entities: Groceries.entities()),
            storeURL: folder.appendingPathComponent("Test.sqlite"), classes: Groceries.classes,
            sqlDebug: SQLDebugLog(level: 4))
        let context = container.newBackgroundContext()
        Item(context: context).name = "x"
        try context.save()
        guard try context.count(for: FetchRequest<Item>()) == 1 else { exit(2) }
    }

    @Test("A closed standard error does not stop the program")
    func closed() async {
        await #expect(processExitsWith: .exitCode(7)) {
            close(STDERR_FILENO)
            try Self.save()
            exit(7)
        }
    }

    @Test("A standard error on a full device does not stop the program")
    func full() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let device = open("/dev/full", O_WRONLY)
            dup2(device, STDERR_FILENO)
            try Self.save()
            exit(7)
        }
    }

    @Test("A standard error without a reader does not stop the program or raise SIGPIPE")
    func brokenPipe() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            close(ends[0])
            dup2(ends[1], STDERR_FILENO)
            signal(SIGPIPE, SIG_DFL)
            try Self.save()
            // No signal is left pending for the program itself.
            var waiting = sigset_t()
            sigpending(&waiting)
            exit(sigismember(&waiting, SIGPIPE) == 0 ? 7 : 3)
        }
    }

    @Test("The lines are written completely if possible")
    func lines() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try Self.save()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("CoreData: details: SQLite bind[0] = 1\n"))
        #expect(text.contains("] CoreData: sql: SELECT COUNT(*) FROM ZITEM\n"))
        #expect(text.contains("] CoreData: annotation: count 2 at FaultlineStoreTests/SQLDebugOutputTests.swift:"))
    }
}
