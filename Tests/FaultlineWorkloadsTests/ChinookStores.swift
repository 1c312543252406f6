import FaultlineWorkloads
import Foundation
import SharedData
import TestFolders

/// Music libraries made from Chinook's data once, and read by many tests.
enum ChinookStores {
    private static let folder = TestFolder.file()

    // The stores of the forms differ only in how titles are searched.
    private static let stores = [MusicLibraryFlaws.textSearch, []].map { flaws in
        Result {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let store = folder.appendingPathComponent("\(flaws.rawValue).sqlite")
            try MusicLibrary.prepare(
                MusicLibraryForm(visibleRows: 20, flaws: flaws),
                from: SharedData.url("chinook/Chinook_Sqlite.sqlite"), at: store)
            return store
        }
    }

    /// Returns the store for a form with the given flaws.
    static func store(for flaws: MusicLibraryFlaws) throws -> URL {
        try stores[flaws.contains(.textSearch) ? 0 : 1].get()
    }
}
