import FaultlineModel
import FaultlineStore
import Foundation

final class Photo: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let takenAtKey = AttributeKey<Date>("takenAt")
    static let latitudeKey = AttributeKey<Double>("latitude")
    static let longitudeKey = AttributeKey<Double>("longitude")
    static let isSeenKey = AttributeKey<Bool>("isSeen")
    static let thumbnailKey = AttributeKey<Data?>("thumbnail")
    static let imageKey = AttributeKey<Data?>("image")
    static let albumsKey = ToManyKey<Album>("albums")
    var title: String { self[Self.titleKey] }
    var takenAt: Date { self[Self.takenAtKey] }
    var latitude: Double { self[Self.latitudeKey] }
    var longitude: Double { self[Self.longitudeKey] }
}

final class Album: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let photosKey = ToManyKey<Photo>("photos")
    static let coverKey = ToOneKey<Photo>("cover")
    var name: String { self[Self.nameKey] }
    var photos: ToMany<Photo> { self[Self.photosKey] }
}

/// What the repaired form keeps apart from photos.
final class Thumbnail: ManagedObject {
    static let thumbnailKey = AttributeKey<Data?>("thumbnail")
    static let photoKey = ToOneKey<Photo>("photo")
}

/// - Parameter isRepaired: Whether thumbnails are apart, and photos can be found by place.
func makeModel(isRepaired: Bool) throws -> ManagedObjectModel {
    let thumbnail = AttributeDescription("thumbnail", .binary)
    let thumbnails = EntityDescription(
        "Thumbnail", attributes: [thumbnail],
        relationships: [RelationshipDescription("photo", to: "Photo", inverse: "preview")])
    let preview = RelationshipDescription("preview", to: "Thumbnail", inverse: "photo")
    return try ManagedObjectModel(
        entities: [
            EntityDescription(
                "Photo",
                attributes: [
                    AttributeDescription("title", .string, isOptional: false),
                    AttributeDescription("takenAt", .date, isOptional: false),
                    AttributeDescription("latitude", .double, isOptional: false),
                    AttributeDescription("longitude", .double, isOptional: false),
                    AttributeDescription("isSeen", .boolean, isOptional: false),
                    AttributeDescription("image", .binary, allowsExternalBinaryDataStorage: true),
                ] + (isRepaired ? [] : [thumbnail]),
                relationships: [
                    RelationshipDescription("albums", to: "Album", inverse: "photos", isToMany: true),
                    RelationshipDescription("coverOf", to: "Album", inverse: "cover", isToMany: true),
                ] + (isRepaired ? [preview] : []),
                indexes: [FetchIndexDescription("byDate", on: "takenAt")]
                    + (isRepaired ? [FetchIndexDescription("byPlace", on: "latitude", "longitude")] : [])),
            EntityDescription(
                "Album", attributes: [AttributeDescription("name", .string, isOptional: false)],
                relationships: [
                    RelationshipDescription("photos", to: "Photo", inverse: "albums", isToMany: true),
                    RelationshipDescription("cover", to: "Photo", inverse: "coverOf"),
                ]),
        ] + (isRepaired ? [thumbnails] : []))
}

/// Thirty albums and twelve hundred photos around the world, of which some have images in files of their own.
func fill(_ context: ManagedObjectContext, isRepaired: Bool) throws {
    let albums = (0..<30).map { number in
        let album = Album(context: context)
        album[Album.nameKey] = "Album \(number)"
        return album
    }
    for number in 0..<1200 {
        let photo = Photo(context: context)
        photo[Photo.titleKey] = "Photo \(number)"
        photo[Photo.takenAtKey] = Date(timeIntervalSince1970: 1_700_000_000 + Double(number) * 3600)
        photo[Photo.latitudeKey] = Double(number * 61 % 1800) / 10 - 90
        photo[Photo.longitudeKey] = Double(number * 67 % 3600) / 10 - 180
        photo[Photo.isSeenKey] = number % 5 == 0
        if number % 100 == 0 { photo[Photo.imageKey] = Data(repeating: UInt8(number / 100), count: 300_000) }
        let thumbnail = Data(repeating: UInt8(number % 251), count: 18_000)
        if isRepaired {
            let preview = Thumbnail(context: context)
            (preview[Thumbnail.thumbnailKey], preview[Thumbnail.photoKey]) = (thumbnail, photo)
        } else {
            photo[Photo.thumbnailKey] = thumbnail
        }
        for place in 0..<2 {
            let album = albums[(number + place * 13) % albums.count]
            photo[Photo.albumsKey].add(album)
            album[Album.coverKey] = photo
        }
    }
    try context.save()
}
