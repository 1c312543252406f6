internal import CRecorder
internal import CTraceSchema
package import FaultlineTrace
internal import Foundation

extension Recorder {
    /// Returns the number of a dictionary entry, and writes the entry to the trace the first time.
    ///
    /// 0 if recording is off or the dictionary is full.
    ///
    /// Each call encodes the entry as JSON, so callers should cache the number.
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

    /// Returns the number of a call site.
    ///
    /// - Complexity: A look-up by the address of the file's name and the line; no allocation after the first time.
    package func site(fileID: StaticString, line: UInt, function: StaticString) -> DictionaryID {
        guard let handle, isEnabled else { return 0 }
        return fileID.utf8Start.withMemoryRebound(to: CChar.self, capacity: fileID.utf8CodeUnitCount) { file in
            function.utf8Start.withMemoryRebound(to: CChar.self, capacity: function.utf8CodeUnitCount) { name in
                fl_intern_site(
                    handle, file, fileID.utf8CodeUnitCount, UInt32(clamping: line), name, function.utf8CodeUnitCount)
            }
        }
    }

    /// A keyed hash of bytes: equal for equal bytes within this recording, and useless for guessing them.
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

    /// The same, or 0 if recording is off.
    package var nowIfEnabled: UInt64 { isEnabled ? now() : 0 }
}
