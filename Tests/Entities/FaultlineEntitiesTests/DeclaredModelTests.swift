import FaultlineEntities
import Foundation
import Testing

@testable import FaultlineWorkloads

@Suite("A model declared by classes equals the one written by hand")
struct DeclaredModelTests {
    @Test("The models of the music library are equal")
    func music() throws {
        let declared = try ManagedObjectModel(
            entities: Music.Artist.self, Music.Album.self, Music.Track.self, Music.Genre.self, Music.Playlist.self,
            Music.PlaylistEntry.self, Music.TitleWord.self)
        let written = try MusicLibraryModel.make(searchesFoldedTitles: true)
        for (left, right) in zip(declared.entities, written.entities) { #expect(left == right) }
        #expect(declared == written)
        #expect(declared.versionHash == written.versionHash)
    }

    @Test("The models of the shopping list are equal, with an abstract parent and inferred inverses")
    func groceries() throws {
        let declared = try ManagedObjectModel(
            entities: GroceriesList.Item.self, GroceriesList.Unit.self, GroceriesList.Location.self,
            GroceriesList.LocationAtHome.self, GroceriesList.LocationAtShop.self, GroceriesList.ItemPhoto.self)
        let written = try GroceriesModel.make(photoInRow: false)
        for (left, right) in zip(declared.entities, written.entities) { #expect(left == right) }
        #expect(declared == written)
    }
}
