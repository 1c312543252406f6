extension Flaw {
    /// A library of photos with albums and a map.
    static let photos = [
        Flaw(
            "Photos", "covers", "R04", #"Prefetch "photos" with the fetch of Album, and take the first of each"#,
            line: "// on the cover"),
        Flaw("Photos", "map", "R06", "Index Photo by latitude", line: "// on the map"),
        Flaw(
            "Photos", "days", "R09", "Move Photo.thumbnail into an entity of its own",
            line: #"AttributeDescription("thumbnail""#, file: "Model.swift"),
        Flaw(
            "Photos", "seen", "R10", "Set Photo.isSeen with a batch request", line: "// to be marked as seen",
            others: ["R09"]),
        Flaw(
            "Photos", "sizes", "R01", "Count Album.photos for all objects at once: the members are never read",
            line: "// with its size"),
    ]
}
