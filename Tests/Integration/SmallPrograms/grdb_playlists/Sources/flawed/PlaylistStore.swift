import Foundation
import GRDB

final class PlaylistStore {
    private let queue: DatabaseQueue

    init(path: String) throws {
        queue = try DatabaseQueue(path: path)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { db in
            try db.create(table: "playlist") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull()
            }
            try db.create(table: "track") { t in
                t.primaryKey("id", .integer)
                t.belongsTo("playlist").notNull()
                t.column("title", .text).notNull()
                t.column("seconds", .integer).notNull()
            }
            try db.create(table: "play") { t in
                t.column("trackId", .integer).notNull()
                t.column("day", .integer).notNull()
            }
        }
        try migrator.migrate(queue)
    }

    func fill() throws {
        try queue.write { db in
            for id in 1...Int64(60) { try Playlist(id: id, name: "List \(id * 37 % 61)").insert(db) }
            for id in 1...Int64(4_000) {
                try Track(
                    id: id, playlistId: id % 60 + 1, title: "Track \(id * 7919 % 4001)", seconds: 100 + Int(id % 200)
                )
                .insert(db)
            }
        }
    }

    func durations() throws -> [String: Int] {
        try queue.read { db in
            var result: [String: Int] = [:]
            for playlist in try Playlist.order(Column("name")).fetchAll(db) {  // finds R27
                let tracks = try playlist.tracks.fetchAll(db)
                result[playlist.name] = tracks.reduce(0) { $0 + $1.seconds }
            }
            return result
        }
    }

    func find(title: String) throws -> Track? {
        try queue.read { db in
            try Track.filter(Column("title") == title).fetchOne(db)
        }
    }

    func played(_ plays: [Play]) throws {
        for play in plays {
            try queue.write { db in
                try play.insert(db)  // finds R28
            }
        }
    }

    func playCount() throws -> Int {
        try queue.read { db in try Play.fetchCount(db) }
    }
}
