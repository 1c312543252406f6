import Foundation

/// A copy of a CTF trace, one of whose files is damaged at a time.
final class DamagedTrace {
    let path: String
    private let files: [(url: URL, bytes: [UInt8])]
    private var damaged: Int?

    init(of original: URL, in scratch: URL) throws {
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        let copy = scratch.appendingPathComponent("trace")
        try FileManager.default.copyItem(at: original, to: copy)
        path = copy.path
        let all = FileManager.default.enumerator(at: copy, includingPropertiesForKeys: [.isRegularFileKey])
        files = try (all?.compactMap { $0 as? URL } ?? []).sorted { $0.path < $1.path }
            .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true }
            .map { ($0, Array(try Data(contentsOf: $0))) }.filter { !$0.1.isEmpty }
        if files.isEmpty { fail([], "nothing to begin with in \(original.path)") }
    }

    /// Damages a file: some of its bytes or numbers, its length, or a page of it.
    ///
    /// - Returns: Its contents now.
    func damage(_ mutation: inout Mutation) throws -> [UInt8] {
        let index = mutation.number(files.count)
        var bytes = files[index].bytes
        for _ in 0...mutation.number(4) {
            // Headers of files and of packets decide more than what follows.
            let place = mutation.number(3) == 0 ? mutation.number(bytes.count) : mutation.number(min(bytes.count, 256))
            switch mutation.number(6) {
            case 0: bytes[place] = UInt8(mutation.number(256))
            case 1: bytes[place] ^= 1 << UInt8(mutation.number(8))
            case 2:
                let number = [UInt64.max, 0, 1, 1 << 31, 1 << 63, UInt64(bytes.count)][mutation.number(6)]
                for (offset, byte) in withUnsafeBytes(of: number, Array.init).enumerated()
                where place + offset < bytes.count {
                    bytes[place + offset] = byte
                }
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + mutation.number(64)))
            case 4: bytes.insert(contentsOf: bytes.prefix(1 + mutation.number(64)), at: place)
            default: bytes.removeSubrange((place + 1)...)
            }
            if bytes.isEmpty { bytes = [0] }
        }
        try Data(bytes).write(to: files[index].url)
        damaged = index
        return bytes
    }

    /// Undoes the damage.
    func restore() throws {
        guard let damaged else { return }
        try Data(files[damaged].bytes).write(to: files[damaged].url)
    }
}
