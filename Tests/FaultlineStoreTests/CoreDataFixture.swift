import CSQLite
import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

/// A store written by Apple's Core Data, with its model.
struct CoreDataFixture: Sendable, CustomTestStringConvertible {
    var store: String
    var model: String
    var version: String?

    var testDescription: String { store }

    static let sample1 = CoreDataFixture(
        store: "coredataplus/SampleModel/Fixtures/SampleModel_V1.sqlite",
        model: "coredataplus/SampleModel/SampleModel.xcdatamodeld", version: "SampleModel")
    static let sample2 = CoreDataFixture(
        store: "coredataplus/SampleModel/Fixtures/SampleModel_V2.sqlite",
        model: "coredataplus/SampleModel/SampleModel.xcdatamodeld", version: "SampleModel2")
    static let books = CoreDataFixture(
        store: "coredataplus/SampleModel2/SampleModel2_V1.sqlite",
        model: "coredataplus/SampleModel2/SampleModel2_V1.xcdatamodel")
    static let users = CoreDataFixture(
        store: "coredataplus/SampleModel3/Fixtures/SampleModel3_V1.sqlite",
        model: "coredataplus/SampleModel3/SampleModel3.xcdatamodeld", version: "SampleModel3")
    static let bookmarks1 = CoreDataFixture(
        store: "duckduckgo/Bookmarks_V1.sqlite", model: "duckduckgo/BookmarksModel.xcdatamodeld",
        version: "BookmarksModel")
    static let bookmarks2 = CoreDataFixture(
        store: "duckduckgo/Bookmarks_V2.sqlite", model: "duckduckgo/BookmarksModel.xcdatamodeld",
        version: "BookmarksModel 2")
    static let bookmarks3 = CoreDataFixture(
        store: "duckduckgo/Bookmarks_V3.sqlite", model: "duckduckgo/BookmarksModel.xcdatamodeld",
        version: "BookmarksModel 3")
    static let all = [sample1, sample2, books, users, bookmarks1, bookmarks2, bookmarks3]

    func loadModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(contentsOf: SharedData.url("core-data-stores/" + model), version: version)
    }

    /// Copies the store to a folder of its own.
    func copy() throws -> URL {
        let url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        try FileManager.default.copyItem(at: SharedData.url("core-data-stores/" + store), to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
        return url
    }

    func open(
        _ url: URL, change: (inout PersistentStoreDescription) -> Void = { _ in }
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: url)
        change(&description)
        return try PersistentContainer(name: "Test", managedObjectModel: loadModel(), storeDescription: description)
    }
}

/// A value as SQLite stores it.
enum Cell: Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
}

extension SQLShell {
    /// Returns the rows of a query as dictionaries by column, read with SQLite's C API.
    static func cells(_ text: String, _ url: URL) throws -> [[String: Cell]] {
        var connection: OpaquePointer?
        var statement: OpaquePointer?
        guard sqlite3_open(url.path, &connection) == SQLITE_OK,
            sqlite3_prepare_v2(connection, text, -1, &statement, nil) == SQLITE_OK
        else { throw Failure(message: String(cString: sqlite3_errmsg(connection))) }
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(connection)
        }
        var rows: [[String: Cell]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            var row: [String: Cell] = [:]
            for column in 0..<sqlite3_column_count(statement) {
                let name = String(cString: sqlite3_column_name(statement, column))
                let count = Int(sqlite3_column_bytes(statement, column))
                switch sqlite3_column_type(statement, column) {
                case SQLITE_INTEGER: row[name] = .integer(sqlite3_column_int64(statement, column))
                case SQLITE_FLOAT: row[name] = .real(sqlite3_column_double(statement, column))
                case SQLITE_TEXT: row[name] = .text(String(cString: sqlite3_column_text(statement, column)))
                case SQLITE_BLOB:
                    row[name] = .blob(
                        sqlite3_column_blob(statement, column).map { Data(bytes: $0, count: count) } ?? Data())
                default: row[name] = .null
                }
            }
            rows.append(row)
        }
        return rows
    }
}
