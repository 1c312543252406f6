// A library of photos with albums and a map, in two forms: flawed and repaired.
//
//     Photos <store> flawed|repaired prepare
//     Photos <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore
import Foundation

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "covers": try showCovers()
        case "map": try showMap()
        case "days": try listDays()
        case "seen": try markSeen()
        case "sizes": try listSizes()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// The newest photo of each album.
    private func showCovers() throws {
        var request = FetchRequest<Album>(sortDescriptors: [.ascending("name")])
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["cover"] }
        for album in try context.fetch(request) {
            guard isFlawed else {
                print(album.name, album[Album.coverKey]?.title ?? "")
                continue
            }
            var photos = FetchRequest<Photo>(
                predicate: try FetchPredicate(format: "ANY albums == %@", album),
                sortDescriptors: [.descending("takenAt")], fetchLimit: 1)
            photos.propertiesToFetch = ["title"]
            print(album.name, try context.fetch(photos).first?.title ?? "")  // on the cover
        }
    }

    /// The photos of some parts of the map.
    private func showMap() throws {
        for south in [-60.0, -30, 0, 30, 60] {
            var request = FetchRequest<Photo>(
                predicate: try FetchPredicate(
                    format: "latitude >= %f AND latitude < %f AND longitude >= %f AND longitude < %f", south, south + 3,
                    0.0, 90.0))
            request.propertiesToFetch = ["title", "latitude", "longitude"]
            let photos = try context.fetch(request)  // on the map
            print(photos.map { "\($0.title) \($0.latitude) \($0.longitude)" })
        }
    }

    /// Lists the photos of a few days at a time, without their pictures.
    private func listDays() throws {
        for part in 0..<10 {
            let first = Date(timeIntervalSince1970: 1_700_000_000 + Double(part) * 120 * 3600)
            let request = FetchRequest<Photo>(
                predicate: PropertyPath("takenAt") >= first
                    && PropertyPath("takenAt") < first.addingTimeInterval(120 * 3600))
            let photos = try context.fetch(request)  // of some days
            print(photos.map { "\($0.title) \($0.takenAt) \($0.latitude) \($0.longitude) \($0[Photo.isSeenKey])" })
        }
    }

    /// Marks all photos as seen.
    private func markSeen() throws {
        let request = FetchRequest<Photo>(predicate: PropertyPath("isSeen") == false)
        guard isFlawed else {
            let update = BatchUpdateRequest(fetchRequest: request, propertiesToUpdate: ["isSeen": .value(true)])
            print(try context.execute(update).objectIDs.count)
            return
        }
        for photo in try context.fetch(request) {  // to be marked as seen
            photo[Photo.isSeenKey] = true
        }
        try context.save()
    }

    /// How many photos each album has.
    private func listSizes() throws {
        var request = FetchRequest<Album>(sortDescriptors: [.ascending("name")])
        guard isFlawed else {
            let count = ExpressionDescription("count", .keyPath("photos.@count"))
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["name", count])
            print(try context.fetchDictionaries(request).count)
            return
        }
        for album in try context.fetch(request) {  // with its size
            print(album.name, album.photos.count)
        }
    }
}

let application = Application()
let classes = [Photo.self, Album.self] + (application.isFlawed ? [] : [Thumbnail.self])
let container = try application.container(
    "Photos", makeModel(isRepaired: !application.isFlawed), classes: classes)
try application.run(container) { context in
    try fill(context, isRepaired: !application.isFlawed)
} scenario: { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
