import GRDB

struct Author: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String
}

struct Book: Codable, FetchableRecord, PersistableRecord {
    static let author = belongsTo(Author.self)
    var id: Int64
    var authorId: Int64
    var title: String
    var isbn: String

    var author: QueryInterfaceRequest<Author> { request(for: Book.author) }
}

struct Visit: Codable, FetchableRecord, PersistableRecord {
    var page: String
}

var database: DatabaseQueue { fatalError() }
var db: Database { fatalError() }
nonisolated(unsafe) var migrator = DatabaseMigrator()
