import CSQLite
package import FaultlineRecorder
package import FaultlineTrace
package import Foundation

typealias MigrationSpan = Span<TraceEvent.Migration>

extension TraceEvent.Migration: SpanEvent {
    static var failure: Int32 { SQLITE_ABORT }
}

/// Records a migration and its parts, and prints them if Core Data's migration log is on.
///
/// An error in a part is the error of the whole, which records it.
package struct MigrationTrace {
    package let recorder: Recorder
    package let log: SQLDebugLog
    package let way: TraceEvent.Migration.Way

    package init(recorder: Recorder, log: SQLDebugLog, way: TraceEvent.Migration.Way) {
        (self.recorder, self.log, self.way) = (recorder, log, way)
    }

    /// Measures a whole migration of a store.
    ///
    /// - Parameters:
    ///   - isStep: Whether it is a step of the store's migration.
    ///   - timeInSQL: The estimated time of a migration that could have been inferred, in nanoseconds. Called only while
    ///     recording.
    package func whole<R, Failure: Error>(
        _ path: String, isStep: Bool = false, timeInSQL: () -> UInt64 = { 0 }, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        let bytes = URL(fileURLWithPath: path).fileSize
        let span = recorder.begin().map { MigrationSpan($0, recorder, TraceOrigin()) }
        span?.describe { event in
            (event.stage, event.way, event.bytes) = (isStep ? .step : .whole, way, bytes)
            event.name = recorder.intern(.name(NameEntry(name: path)))
        }
        let start = ContinuousClock.now
        log.migration("Migrating the store '\(path)' (\(bytes) bytes), \(way.words)")
        do throws(Failure) {
            let result = try body()
            span?.describe { $0.timeInSQL = timeInSQL() }
            span?.end()
            log.migration("Migrated the store in \(SQLDebugLog.seconds(since: start))")
            return result
        } catch {
            span?.end(error)
            log.migration("Migrating the store failed after \(SQLDebugLog.seconds(since: start)): \(error)")
            throw error
        }
    }

    /// Measures a part of a migration.
    ///
    /// - Parameters:
    ///   - name: The subject of the part; empty for none or several.
    ///   - body: Sets the number of rows that it processes.
    package func part<R, Failure: Error>(
        _ stage: TraceEvent.Migration.Stage, _ name: String = "",
        _ body: (_ rows: inout UInt64) throws(Failure) -> R
    ) throws(Failure) -> R {
        let span = recorder.begin().map { MigrationSpan($0, recorder, TraceOrigin()) }
        let start = ContinuousClock.now
        do throws(Failure) {
            var rows: UInt64 = 0
            let result = try body(&rows)
            span?.describe { event in
                (event.stage, event.way, event.rows) = (stage, way, rows)
                if !name.isEmpty { event.name = recorder.intern(.name(NameEntry(name: name))) }
            }
            span?.end()
            let subject = name.isEmpty ? "" : " '\(name)'"
            let count = rows == 0 ? "" : ", \(rows) rows"
            log.migration("\(stage)\(subject): \(SQLDebugLog.seconds(since: start))\(count)")
            return result
        } catch {
            span?.cancel()
            throw error
        }
    }
}

extension TraceEvent.Migration.Way {
    /// The method as the end of a sentence.
    fileprivate var words: String {
        switch self {
        case .inferred: "in place, inferred from names and renaming identifiers"
        case .mapping: "in place, with a mapping model"
        case .objects: "object by object, with a mapping model"
        case .staged: "version by version"
        }
    }
}

extension URL {
    /// The size of the file in bytes; 0 if there is none.
    package var fileSize: UInt64 {
        (try? FileManager.default.attributesOfItem(atPath: resolvingSymlinksInPath().path)[.size] as? UInt64) ?? 0
    }
}
