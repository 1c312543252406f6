import FaultlineWorkloads
import Foundation
import SharedData
import TestFolders

/// Music libraries of Chinook's data, which are made once and read by many tests.
enum ChinookStores {
    private static let folder = TestFolder.file()

    // Forms differ in their stores by how titles are searched, and by nothing else.
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

    /// The store for a form with some flaws.
    static func store(for flaws: MusicLibraryFlaws) throws -> URL {
        try stores[flaws.contains(.textSearch) ? 0 : 1].get()
    }
}
