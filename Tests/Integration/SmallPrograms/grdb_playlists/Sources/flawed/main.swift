import Foundation

let store = try PlaylistStore(path: CommandLine.arguments[1])
try store.fill()
let durations = try store.durations()
print(durations.count, durations.values.reduce(0, +))
for title in ["Track 5", "Track 17", "Track 3999"] {
    print(title, try store.find(title: title)?.id ?? 0)
}
try store.played((0..<40).map { Play(trackId: Int64($0 % 7 + 1), day: $0) })
print(try store.playCount(), "plays")
