import FaultlineTrace
import Testing

@Suite("The program's own Python functions are distinguished from those of libraries")
struct InterpretedCodeTests {
    /// The lines of a process's stacks, each written from the outermost function to the innermost one as `file:line function`.
    private func sites(_ stacks: [String]...) -> [[String]] {
        var dictionary = TraceDictionary()
        var addresses: [String: String] = [:]
        for frame in Set(stacks.joined()).sorted() {
            let words = frame.split { $0 == " " || $0 == ":" }.map(String.init)
            let location = FrameEntry.Location(
                symbol: words[2], function: words[2], file: words[0], line: Int(words[1]) ?? 0)
            let address = "0x\(addresses.count + 1)"
            dictionary.insert(
                .frame(FrameEntry(address: address, module: "Python", locations: [location])),
                id: DictionaryID(addresses.count + 1))
            addresses[frame] = address
        }
        for (index, stack) in stacks.enumerated() {
            let frames = stack.reversed().compactMap { addresses[$0] }
            dictionary.insert(.stack(StackEntry(frames: frames)), id: DictionaryID(1000 + index))
        }
        var resolver = CallSiteResolver(dictionary: dictionary)
        return stacks.indices.map { index in
            resolver.callers(of: TraceEvent(stack: DictionaryID(1000 + index), .sql(.init()))).map(\.description)
        }
    }

    private let packages = "/venv/lib/python3.11/site-packages"
    private let thread = "/usr/lib/python3.11/threading.py:975 run"

    @Test("A script that an installer wrote does not belong to the program", arguments: ["bin", "Scripts"])
    func installedCommand(folder: String) {
        let script = "/venv/\(folder)/my-shop"
        let sites = sites(
            [
                "\(script):8 <module>", "\(packages)/click/core.py:9 main", "\(packages)/my_shop/cli.py:20 list",
                "\(packages)/my_shop/db.py:5 run", "\(packages)/sqlalchemy/engine.py:3 execute",
            ],
            ["\(script):4 <module>", "<frozen importlib._bootstrap>:1 load", "\(packages)/my_shop/cli.py:2 <module>"],
            [thread, "\(packages)/my_shop/db.py:7 count"])
        #expect(sites == [["db.py:5", "cli.py:20"], ["cli.py:2"], ["db.py:7"]])
    }

    @Test("A command whose package has another name is where the statements come from")
    func otherName() {
        let sites = sites([
            "/venv/bin/beet:8 <module>", "\(packages)/beets/ui.py:9 main", "\(packages)/peewee.py:3 execute",
        ])
        #expect(sites == [["ui.py:9"]])
    }

    @Test("A module that is run as a command is the program")
    func module() {
        let sites = sites([
            "<frozen runpy>:88 _run_code", "\(packages)/shop/__main__.py:3 <module>", "\(packages)/shop/db.py:5 run",
            "\(packages)/aiosqlite/core.py:63 run",
        ])
        #expect(sites == [["db.py:5", "__main__.py:3"]])
    }

    @Test("A server's script and package are libraries of the code that they serve")
    func server() {
        let sites = sites(
            ["/venv/bin/gunicorn:8 <module>", "\(packages)/gunicorn/app.py:9 run", "/home/me/shop/views.py:4 list"],
            ["/venv/bin/gunicorn:8 <module>", "\(packages)/gunicorn/app.py:9 run", "\(packages)/django/db.py:3 run"])
        #expect(sites == [["views.py:4"], ["db.py:3"]])
    }

    @Test(
        "A script that somebody wrote is the program",
        arguments: [
            ["/home/me/bin/tool:8 <module>"],
            ["/home/me/bin/tool:8 <module>", "/venv/lib/python3.11/site-packages/sqlalchemy/orm.py:3 all"],
            ["/home/me/tools/tool:8 <module>", "/venv/lib/python3.11/site-packages/shop/db.py:3 all"],
            ["/home/me/bin/tool.py:8 <module>", "/venv/lib/python3.11/site-packages/shop/db.py:3 all"],
        ])
    func ownScript(stack: [String]) {
        #expect(sites(stack).first?.last?.hasSuffix(":8") == true)
    }

    @Test("A script with functions or with several calls is the program")
    func script() {
        let call = ["\(packages)/shop/db.py:3 all"]
        #expect(
            sites(["/usr/bin/tool:30 <module>", "/usr/bin/tool:8 main"] + call).first == ["tool:8", "tool:30"])
        let lines = sites(
            ["/usr/bin/tool:3 <module>"] + call, ["/usr/bin/tool:4 <module>"] + call,
            ["/usr/bin/tool:5 <module>"] + call)
        #expect(lines == [["tool:3"], ["tool:4"], ["tool:5"]])
    }
}
