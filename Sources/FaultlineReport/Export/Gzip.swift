internal import CZlib

/// Compresses bytes as gzip does.
enum Gzip {
    /// Returns the compressed bytes, which are the same for the same input.
    ///
    /// - Returns: `nil` if there is no memory for it.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard czlib_begin_gzip(&stream) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 16)
        return input.withUnsafeMutableBufferPointer { input -> [UInt8]? in
            var rest = input[...]
            // zlib counts its input in 32 bits.
            repeat {
                let part = rest.prefix(1 << 30)
                rest = rest.dropFirst(part.count)
                stream.next_in = part.isEmpty ? nil : input.baseAddress.map { $0 + part.startIndex }
                stream.avail_in = UInt32(part.count)
                repeat {
                    let written = room.withUnsafeMutableBufferPointer { room -> Int? in
                        stream.next_out = room.baseAddress
                        stream.avail_out = UInt32(room.count)
                        let code = deflate(&stream, rest.isEmpty ? Z_FINISH : Z_NO_FLUSH)
                        return code == Z_STREAM_ERROR ? nil : room.count - Int(stream.avail_out)
                    }
                    guard let written else { return nil }
                    output.append(contentsOf: room[..<written])
                } while stream.avail_out == 0
            } while !rest.isEmpty
            return output
        }
    }
}
