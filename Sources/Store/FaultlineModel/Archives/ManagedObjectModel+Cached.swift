internal import CZlib
package import Foundation

extension ManagedObjectModel {
    /// The largest size of an uncompressed archive, far above that of real models.
    private static let largestArchive = 8 << 20

    /// Reads the copy of a model that Core Data keeps in the table `Z_MODELCACHE` of a store.
    ///
    /// It lacks what a store does not depend on: validation rules, fetched properties, fetch requests and user info. It also lacks
    /// the flag of attributes whose large values are in files of their own.
    ///
    /// - Parameters:
    ///   - data: The column `Z_CONTENT`.
    ///   - store: The store's name in errors.
    /// - Throws: ``ModelError`` if it is not a compressed archive of a model, or the model is invalid.
    package static func cached(_ data: Data, in store: String) throws(ModelError) -> ManagedObjectModel {
        do throws(ArchiveFailure) {
            guard data.count <= largestArchive else { throw ArchiveFailure("is larger than any that Core Data writes") }
            guard let archive = inflate(data) else {
                throw ArchiveFailure("is not compressed, is cut off, or has more than \(largestArchive >> 20) MiB")
            }
            return try ManagedObjectModel(try ModelArchive.contents(archive))
        } catch {
            throw ModelError(.notAModel, "Cannot read the copy of the model in '\(store)': it \(error.text).")
        }
    }

    /// Reads a compiled model, which is such an archive without compression.
    ///
    /// - Throws: ``ModelError`` if it is not the archive of a model, or the model is invalid.
    convenience init(compiled data: Data, file: URL) throws(ModelError) {
        do throws(ArchiveFailure) {
            try self.init(try ModelArchive.contents(data), file: file)
        } catch {
            throw ModelError(
                .notAModel,
                "Cannot read the compiled model '\(file.path)': it \(error.text); name the .xcdatamodeld that it was compiled from."
            )
        }
    }

    private convenience init(_ contents: ModelArchive.Contents, file: URL? = nil) throws(ArchiveFailure) {
        do throws(ModelError) {
            try self.init(
                checking: contents.entities, versionIdentifiers: contents.versionIdentifiers,
                configurations: contents.configurations, fetchRequestTemplates: [], compositeAttributes: [],
                origin: nil, file: file, isCoreDataCopy: true)
        } catch {
            throw ArchiveFailure("has an invalid model: \(error.message)")
        }
    }

    /// Whether a model that Core Data keeps in a store is this version, as far as the copy shows.
    package func isSameVersion(asCached model: ManagedObjectModel) -> Bool {
        differences(from: model).allSatisfy { !$0.requiresMigration }
    }

    /// Returns what `deflate` compressed without a header; `nil` if it did not, or the result is too large.
    static func inflate(_ data: Data) -> Data? {
        var stream = z_stream()
        guard !data.isEmpty, czlib_begin_raw_inflate(&stream) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var (input, output) = (Array(data), Data())
        var room = [UInt8](repeating: 0, count: 1 << 16)
        return input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            while output.count <= largestArchive {
                let (code, count) = room.withUnsafeMutableBufferPointer { room in
                    stream.next_out = room.baseAddress
                    stream.avail_out = UInt32(room.count)
                    return (CZlib.inflate(&stream, Z_NO_FLUSH), room.count - Int(stream.avail_out))
                }
                output.append(contentsOf: room[..<count])
                if code == Z_STREAM_END { return output }
                guard code == Z_OK, count > 0 || stream.avail_in > 0 else { return nil }
            }
            return nil
        }
    }
}
