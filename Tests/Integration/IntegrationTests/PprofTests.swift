import Foundation
import ProjectFiles
import Testing

@Suite("A profile for pprof", .enabled(if: PyPI.has("google.protobuf"), PyPI.need("protobuf")))
struct PprofTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Reads a profile with protobuf's own decoder and the declarations of pprof's `profile.proto`.
    ///
    /// Checks that all numbers refer to something, and prints the sums.
    private static let reading = """
        import gzip, sys
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields
        declarations = {
            "ValueType": "1 type int64, 2 unit int64",
            "Label": "1 key int64, 2 str int64, 3 num int64, 4 num_unit int64",
            "Sample": "1 location_id *uint64, 2 value *int64, 3 label *Label",
            "Mapping": "1 id uint64, 2 memory_start uint64, 3 memory_limit uint64, 4 file_offset uint64, 5 filename int64, "
                "6 build_id int64, 7 has_functions bool, 8 has_filenames bool, 9 has_line_numbers bool, "
                "10 has_inline_frames bool",
            "Line": "1 function_id uint64, 2 line int64, 3 column int64",
            "Location": "1 id uint64, 2 mapping_id uint64, 3 address uint64, 4 line *Line, 5 is_folded bool",
            "Function": "1 id uint64, 2 name int64, 3 system_name int64, 4 filename int64, 5 start_line int64",
            "Profile": "1 sample_type *ValueType, 2 sample *Sample, 3 mapping *Mapping, 4 location *Location, "
                "5 function *Function, 6 string_table *string, 7 drop_frames int64, 8 keep_frames int64, "
                "9 time_nanos int64, 10 duration_nanos int64, 11 period_type ValueType, 12 period int64, "
                "13 comment *int64, 14 default_sample_type int64, 15 doc_url int64",
        }
        types = {"int64": 3, "uint64": 4, "bool": 8, "string": 9}
        file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="perftools", syntax="proto3")
        for name, fields in declarations.items():
            message = file.message_type.add(name=name)
            for field in fields.split(", "):
                number, key, kind = field.split(" ")
                label, kind = (3 if kind[0] == "*" else 1), kind.lstrip("*")
                declared = message.field.add(name=key, number=int(number), label=label)
                if kind in types: declared.type = types[kind]
                else: declared.type, declared.type_name = 11, ".perftools." + kind
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        Profile = message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.Profile"))
        with gzip.open(sys.argv[1]) as data: profile = Profile.FromString(data.read())

        def check(message):
            assert len(unknown_fields.UnknownFieldSet(message)) == 0, message
            for field, value in message.ListFields():
                if field.type == 11:
                    for part in ([value] if hasattr(value, "ListFields") else value): check(part)
        check(profile)
        text = list(profile.string_table)
        assert text[0] == "" and len(text) == len(set(text))
        functions = {function.id: function for function in profile.function}
        mappings = {mapping.id: mapping for mapping in profile.mapping}
        locations = {location.id: location for location in profile.location}
        assert 0 not in functions and 0 not in locations and 0 not in mappings
        for location in profile.location:
            assert location.mapping_id == 0 or location.mapping_id in mappings
            assert [line.function_id in functions for line in location.line] == [True]
            # A line is one of a file, and its mapping says that it has lines.
            assert location.line[0].line >= 0
            if location.line[0].line > 0:
                assert text[functions[location.line[0].function_id].filename] != ""
                mapping = mappings[location.mapping_id]
                assert mapping.has_functions and mapping.has_filenames and mapping.has_line_numbers
        places = [(location.line[0].function_id, location.line[0].line) for location in profile.location]
        assert len(places) == len(set(places))
        assert len(functions) == len({(text[f.name], text[f.filename]) for f in functions.values()})
        names = {id: text[function.name] for id, function in functions.items()}
        sums = [0] * len(profile.sample_type)
        seen = set()
        for sample in profile.sample:
            assert len(sample.value) == len(sums) and sample.location_id and tuple(sample.location_id) not in seen
            seen.add(tuple(sample.location_id))
            sums = [a + b for a, b in zip(sums, sample.value)]
        for type, sum in zip(profile.sample_type, sums): print(text[type.type], text[type.unit], sum)
        print(text[profile.default_sample_type], [text[number] for number in profile.comment], profile.duration_nanos > 0)
        deepest = max(profile.sample, key=lambda sample: len(sample.location_id))
        print(names[locations[deepest.location_id[-1]].line[0].function_id])
        for function, line in sorted(places):
            if line > 0: print("line", names[function], text[functions[function].filename], line)
        """

    private func total(_ trace: String, _ weight: String) throws -> String {
        let tree = try BuiltCommand.run(["tree", trace, "--weight", weight, "--format", "json"])
        let object = try JSONSerialization.jsonObject(with: Data(tree.output.utf8)) as? [String: Any]
        return String(try #require(object?["total"] as? UInt64))
    }

    /// Locations have the lines that the trace's frames have, and the lines that the tree's functions were called from.
    private func checkLines(_ lines: ArraySlice<String>, of trace: String) throws {
        let text = try String(contentsOfFile: trace, encoding: .utf8)
        let known = text.matches(of: #/"file":"([^"]*)","function":"[^"]*","line":(\d+)/#)
        let places = Set(known.map { "\($0.1.replacing("\\/", with: "/")) \($0.2)" })
        #expect(lines.count > 5)
        for line in lines {
            let words = line.split(separator: " ")
            #expect(words.first == "line" && places.contains(words.suffix(2).joined(separator: " ")), "\(line)")
        }
    }

    @Test(
        "has the sums of the call trees, and refers to nothing that is missing",
        arguments: ["music-library", "n-plus-one"])
    func sums(story: String) throws {
        let trace = try SampleTraces.trace(story).path
        let path = directory.path("profile.pb.gz")
        let result = try BuiltCommand.run(["export", trace, "--to", "pprof", "-o", path])
        try #require(result.status == 0 && result.errors.isEmpty)
        let read = try PyPI.run(Self.reading, [path])
        try #require(read.status == 0, "\(read.errors)")
        let lines = read.output.split(separator: "\n").map(String.init)
        let weights = [("time", "nanoseconds"), ("trips", "count"), ("rows", "count"), ("bytes", "bytes")]
        let expected = try weights.map { name, unit in "\(name) \(unit) \(try total(trace, name))" }
        #expect(Array(lines.prefix(4)) == expected, "\(read.output)\(read.errors)")
        #expect(lines.dropFirst(4).first?.hasPrefix("time ['Faultline ") == true && lines[4].hasSuffix("True"))
        let outermost = story == "n-plus-one" ? "Library_main" : "faultline_main"
        #expect(lines.dropFirst(5).first == outermost)
        try checkLines(lines.dropFirst(6), of: trace)
        let rows = directory.path("rows.pb.gz")
        _ = try BuiltCommand.run(["export", trace, "--to", "pprof", "--weight", "rows", "-o", rows])
        let only = try PyPI.run(Self.reading, [rows])
        #expect(only.output.hasPrefix(expected[2] + "\nrows ["), "\(only.output)\(only.errors)")
    }
}
