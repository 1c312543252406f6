import Foundation
import GRDB

struct Playlist: Codable, FetchableRecord, PersistableRecord {
    static let tracks = hasMany(Track.self)
    var id: Int64
    var name: String

    var tracks: QueryInterfaceRequest<Track> { request(for: Playlist.tracks) }
}

struct Track: Codable, FetchableRecord, PersistableRecord {
    static let playlist = belongsTo(Playlist.self)
    var id: Int64
    var playlistId: Int64
    var title: String
    var seconds: Int
}

struct Play: Codable, FetchableRecord, PersistableRecord {
    var trackId: Int64
    var day: Int
}
