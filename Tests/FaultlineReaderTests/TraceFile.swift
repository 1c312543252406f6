import FaultlineReader
import FaultlineTrace
import Foundation
import TestFolders

/// A trace in a new directory, which is removed with the value.
final class TraceFile {
    let directory: URL
    let path: String

    init(_ bytes: some Sequence<UInt8>, name: String = "timeline.json") throws {
        directory = try TestFolder.make()
        path = directory.appending(path: name).path
        try Data(bytes).write(to: URL(filePath: path))
    }

    convenience init(_ text: String) throws {
        try self.init(text.utf8)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    var bytes: [UInt8] {
        get throws { Array(try Data(contentsOf: URL(filePath: path))) }
    }

    var text: String {
        get throws { String(decoding: try bytes, as: UTF8.self) }
    }

    /// Reads the file and returns everything that the reader reports.
    func read() throws -> Reading {
        var reading = Reading()
        reading.summary = try TraceReader(path: path).read { reading.messages.append($0) }
        return reading
    }
}

struct Reading {
    var messages: [TraceMessage] = []
    var summary = ReadingSummary()

    var events: [TraceEvent] {
        messages.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    var entries: [DictionaryEntry] {
        messages.compactMap { if case .entry(_, _, let entry) = $0 { entry } else { nil } }
    }

    /// Returns the dictionary of one process.
    func dictionary(of process: UInt32) -> TraceDictionary {
        var dictionary = TraceDictionary()
        for case .entry(process, let id, let entry) in messages { dictionary.insert(entry, id: id) }
        return dictionary
    }
}

/// Lines as the recorder writes them.
enum Lines {
    static func began(_ process: UInt32 = 1, version: Int = 1) -> String {
        #"{"name":"faultline.began","ph":"M","pid":\#(process),"tid":0,"args":{"version":\#(version),"process":\#(process),"program":"/bin/app","start":0,"date":1.5,"rings":"/tmp/r"}}"#
    }

    static func ended(_ process: UInt32 = 1) -> String {
        #"{"name":"faultline.ended","ph":"M","pid":\#(process),"tid":0,"args":{"process":\#(process),"end":9000,"events":1,"lost":0,"unwritten":0,"entriesLost":0,"usesLost":0,"writing":5,"isClosed":true}}"#
    }

    static func entry(_ kind: String, id: Int, process: UInt32 = 1, _ json: String) -> String {
        #"{"name":"faultline.\#(kind)","ph":"M","pid":\#(process),"tid":0,"args":{"id":\#(id),"entry":\#(json)}}"#
    }

    static func fault(id: Int, process: UInt32 = 1, at time: String = "1.000") -> String {
        #"{"name":"fault","cat":"fault","ph":"X","ts":\#(time),"dur":0.500,"pid":\#(process),"tid":7,"args":{"id":\#(id)}}"#
    }

    /// Returns the array that contains these lines.
    static func timeline(_ lines: [String], newline: String = "\n") -> String {
        (["["] + lines.map { $0 + "," } + ["]", ""]).joined(separator: newline)
    }
}
