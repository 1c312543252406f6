internal import CRecorder
internal import CTraceSchema
package import FaultlineTrace
internal import Foundation

extension Recorder {
    /// The number of a dictionary entry, which is written to the trace at first sight.
    ///
    /// 0 if nothing is recorded or the dictionary is full.
    ///
    /// The entry is turned into JSON each time, so callers keep the number with what it stands for.
    package func intern(_ entry: DictionaryEntry) -> DictionaryID {
        guard let handle, let json = try? entry.json() else { return 0 }
        var label = entry.label
        return json.withUnsafeBytes { json in
            label.withUTF8 { label in
                label.withMemoryRebound(to: CChar.self) { label in
                    fl_intern(
                        handle, entry.kind, json.bindMemory(to: CChar.self).baseAddress, json.count,
                        label.baseAddress, label.count)
                }
            }
        }
    }

    /// The number of a call site.
    ///
    /// - Complexity: a look-up by the file's address and the line; no allocation after first sight.
    package func site(fileID: StaticString, line: UInt, function: StaticString) -> DictionaryID {
        guard let handle, isEnabled else { return 0 }
        return fileID.utf8Start.withMemoryRebound(to: CChar.self, capacity: fileID.utf8CodeUnitCount) { file in
            function.utf8Start.withMemoryRebound(to: CChar.self, capacity: function.utf8CodeUnitCount) { name in
                fl_intern_site(
                    handle, file, fileID.utf8CodeUnitCount, UInt32(clamping: line), name, function.utf8CodeUnitCount)
            }
        }
    }

    /// A keyed hash of bytes: equal for equal bytes in this recording, and of no use to guess them.
    package func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let handle else { return 0 }
        return fl_keyed_hash(handle, bytes.baseAddress, bytes.count)
    }

    /// A keyed hash of two numbers.
    package func hash(_ value: UInt64, _ other: UInt64) -> UInt64 {
        withUnsafeBytes(of: (value, other)) { hash($0) }
    }

    /// `CLOCK_MONOTONIC` in nanoseconds.
    package func now() -> UInt64 {
        fl_now()
    }
}
