import CSQLite
import FaultlineStore
import Foundation

/// SQL functions for values that a migration moves into or out of external storage.
final class MigrationFunctions {
    /// Turns a plain value into a column's bytes: `FaultlineEncodeExternal(value)`.
    static let encode = "FaultlineEncodeExternal"
    /// Reads the plain value that a column's bytes contain or refer to: `FaultlineDecodeExternal(bytes)`.
    static let decode = "FaultlineDecodeExternal"

    private let external: ExternalData
    /// The error of the last call that failed.
    private(set) var error: StoreError?

    /// Registers the functions on a connection, which must not outlive the object.
    init(_ external: ExternalData, on connection: OpaquePointer) {
        self.external = external
        let own = Unmanaged.passUnretained(self).toOpaque()
        let flags = SQLITE_UTF8 | SQLITE_DIRECTONLY
        sqlite3_create_function_v2(
            connection, Self.encode, 1, flags, own, { MigrationFunctions.encode($0, $2) }, nil, nil, nil)
        sqlite3_create_function_v2(
            connection, Self.decode, 1, flags, own, { MigrationFunctions.decode($0, $2) }, nil, nil, nil)
    }

    private static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer? {
        guard sqlite3_value_type(value) != SQLITE_NULL else { return nil }
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    private static func finish(_ context: OpaquePointer?, _ data: Data) {
        data.withUnsafeBytes { csqlite_result_blob(context, $0.baseAddress, Int32($0.count)) }
    }

    private static func encode(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let bytes = bytes(arguments?[0]) else { return sqlite3_result_null(context) }
        finish(context, ExternalData.inlineColumn(Data(bytes)))
    }

    private static func decode(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let bytes = bytes(arguments?[0]), let own = sqlite3_user_data(context) else {
            return sqlite3_result_null(context)
        }
        let functions = Unmanaged<MigrationFunctions>.fromOpaque(own).takeUnretainedValue()
        do throws(StoreError) {
            finish(context, try functions.external.value(bytes))
        } catch {
            functions.error = error
            sqlite3_result_error(context, "a large value cannot be read", -1)
        }
    }
}
