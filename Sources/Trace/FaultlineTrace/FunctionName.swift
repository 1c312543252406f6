/// A function's name, split into its module, the property it accesses and its short form.
///
/// It is parsed from the Swift runtime's demangled name. The mangled name would need a demangler of its own, because
/// names in it can be replaced by references to earlier ones.
struct FunctionName {
    /// The Swift module that contains the code, for an extension its own rather than the type's; `nil` for C, C++ and
    /// unknown.
    let module: String?
    /// The property that the function is an accessor of, or a closure in one.
    let property: String?
    /// Whether the compiler generated the function to forward a call, without a source line of its own.
    let isThunk: Bool
    /// The name in the form of `#function`: `"showList(page:)"`; for C, the symbol.
    let short: String

    init(symbol: String, words: String) {
        guard Self.isSwift(symbol, words) else {
            (module, property, isThunk, short) = (nil, nil, false, words.isEmpty ? symbol : words)
            return
        }
        var text = words[...]
        if let suffix = Self.find(" with unmangled suffix ", in: text) { text = text[..<suffix.lowerBound] }
        text = Self.withoutPrefixes(text)
        let once = "one-time initialization function for "
        if text.hasPrefix(once) {
            // The name of the global or static variable follows without its module.
            (module, property, isThunk) = (Self.mangledModule(symbol), nil, false)
            short = String(text.dropFirst(once.count))
            return
        }
        isThunk = Self.thunkPrefixes.contains { text.hasPrefix($0) }
        let innermost = text
        // "closure #1 (Int) -> () in Groceries.showList()": the last part is the enclosing function.
        while let separator = Self.find(" in ", in: text) { text = Self.withoutPrefixes(text[separator.upperBound...]) }
        let isLocal = !innermost.hasPrefix("closure #") && !innermost.hasPrefix("implicit closure #")
        module = Self.module(of: text) ?? Self.mangledModule(symbol)
        let (path, property) = Self.path(text)
        self.property = property
        short = isLocal && innermost.startIndex != text.startIndex ? Self.localName(innermost) ?? path : path
    }

    // MARK: - Parts of the words

    private static func isSwift(_ symbol: String, _ words: String) -> Bool {
        if ["$s", "_$s", "$S", "_$S", "$e", "_T0"].contains(where: { symbol.hasPrefix($0) }) { return true }
        // Names without a mangled form come from tools that do not show it.
        return symbol != words && !symbol.hasPrefix("_Z") && words.utf8.contains(UInt8(ascii: "."))
    }

    private static let thunkPrefixes = [
        "partial apply forwarder for ", "partial apply for ", "reabstraction thunk ", "protocol witness for ",
        "dispatch thunk of ", "vtable thunk for ", "key path getter for ", "key path setter for ", "key path index ",
        "outlined ", "@objc ", "@nonobjc ", "type metadata ", "metadata ", "lazy protocol witness ",
        "protocol witness table ", "async function pointer to ", "value witness", "curry thunk of ",
        "method lookup function for ", "back deployment thunk for ", "default associated conformance",
    ]

    /// Drops the prefixes that the optimizer and the compiler put before an entity's name.
    private static func withoutPrefixes(_ text: Substring) -> Substring {
        var text = text
        while true {
            let before = text
            for prefix in ["merged ", "static ", "specialized ", "class "] where text.hasPrefix(prefix) {
                text = text.dropFirst(prefix.count)
            }
            for prefix in [
                "generic ", "function signature specialization ", "default argument ", "variable initialization ",
            ]
            where text.hasPrefix(prefix) {
                if let separator = find(" of ", in: text) { text = text[separator.upperBound...] }
            }
            // "(1) suspend resume partial function for X", part of an asynchronous function.
            if text.hasPrefix("("), let separator = find(" resume partial function for ", in: text) {
                text = text[separator.upperBound...]
            }
            if text.startIndex == before.startIndex { return text }
        }
    }

    private static func module(of entity: Substring) -> String? {
        let inExtension = "(extension in "
        if entity.hasPrefix(inExtension) {
            return String(entity.dropFirst(inExtension.count).prefix { $0 != ")" })
        }
        let name = entity.prefix { $0 == "_" || $0.isLetter || $0.isNumber }
        let next = entity[name.endIndex...].first
        return !name.isEmpty && (next == "." || next == nil) ? String(name) : nil
    }

    /// The module at the start of a mangled name: `$s9Groceries…`.
    private static func mangledModule(_ symbol: String) -> String? {
        let name = symbol.drop { $0 == "_" || $0 == "$" }.dropFirst()
        let digits = name.prefix { $0.isNumber }
        guard let length = Int(digits), length > 0 else { return nil }
        let module = name[digits.endIndex...].prefix(length)
        return module.count == length ? String(module) : nil
    }

    private static let accessors: Set<Substring> = [
        "getter", "setter", "modify", "read", "modify2", "read2", "yielding_mutate", "yielding_borrow", "willset",
        "didset",
        "init accessor", "unsafeAddressor", "unsafeMutableAddressor",
    ]

    /// The entity's name with argument labels, and the property if it is an accessor.
    private static func path(_ entity: Substring) -> (name: String, property: String?) {
        // Without the types of the property or result, which contain dots.
        var head = entity
        for type: StaticString in [" : ", " -> "] {
            if let separator = find(type, in: head) { head = head[..<separator.lowerBound] }
        }
        var components = components(of: head)
        if components.count > 1, let last = components.last, accessors.contains(last) {
            components.removeLast()
            let property = plain(components[components.count - 1])
            return (property, property)
        }
        let name = components.last ?? entity
        return (labelled(name), nil)
    }

    /// A private name such as "(name in _1F2E)" without the file's discriminator.
    private static func plain(_ component: Substring) -> String {
        guard component.hasPrefix("("), let separator = find(" in ", in: component.dropFirst()) else {
            return String(component)
        }
        return String(component[component.index(after: component.startIndex)..<separator.lowerBound])
    }

    /// `local #1 (Int) -> Int in …` as `local`.
    private static func localName(_ text: Substring) -> String? {
        find(" #", in: text).map { String(text[..<$0.lowerBound]) }
    }

    /// `showList<A>(page: Int, A) -> ()` as `showList(page:_:)`.
    private static func labelled(_ function: Substring) -> String {
        var name = function
        var rest = Substring()
        if function.hasPrefix("("), let close = function.firstIndex(of: ")") {
            name = function[...close]
            rest = function[function.index(after: close)...]
        } else if let end = function.firstIndex(where: { $0 == "(" || $0 == "<" || $0 == " " }),
            end > function.startIndex
        {
            name = function[..<end]
            rest = function[end...]
        }
        var text = plain(name)
        if text == "__allocating_init" { text = "init" }
        if text == "__deallocating_deinit" { text = "deinit" }
        if rest.hasPrefix("<") { rest = rest[skip(rest, from: rest.startIndex)...] }
        guard rest.hasPrefix("(") else { return text }
        let list = rest[rest.index(after: rest.startIndex)..<skip(rest, from: rest.startIndex)].dropLast()
        if list.isEmpty { return text + "()" }
        var labels = ""
        var remaining: Substring? = list
        while let current = remaining {
            let separator = find(", ", in: current)
            let parameter = separator.map { current[..<$0.lowerBound] } ?? current
            let label = find(": ", in: parameter).map { parameter[..<$0.lowerBound] } ?? "_"
            labels += "\(label):"
            remaining = separator.map { current[$0.upperBound...] }
        }
        return "\(text)(\(labels))"
    }

    // MARK: - Brackets

    private static func components(of path: Substring) -> [Substring] {
        var components: [Substring] = []
        var rest = path
        while let dot = find(".", in: rest) {
            components.append(rest[..<dot.lowerBound])
            rest = rest[dot.upperBound...]
        }
        components.append(rest)
        return components
    }

    /// The first occurrence of `wanted` outside all brackets.
    private static func find(_ wanted: StaticString, in text: Substring) -> Range<Substring.Index>? {
        let wanted = UnsafeBufferPointer(start: wanted.utf8Start, count: wanted.utf8CodeUnitCount)
        var bytes = text
        guard let found = bytes.withUTF8({ offset(of: wanted, in: $0) }) else { return nil }
        let start = text.utf8.index(text.startIndex, offsetBy: found)
        return start..<text.utf8.index(start, offsetBy: wanted.count)
    }

    private static func offset(
        of wanted: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        var depth = 0
        var last: UInt8 = 0
        var at = 0
        while at < bytes.count {
            let byte = bytes[at]
            if depth == 0, byte == wanted[0], at + wanted.count <= bytes.count {
                var same = 1
                while same < wanted.count, bytes[at + same] == wanted[same] { same += 1 }
                if same == wanted.count { return at }
            }
            change(&depth, byte, after: last)
            last = byte
            at += 1
        }
        return nil
    }

    /// The index after the bracket that closes the one at `start`.
    private static func skip(_ text: Substring, from start: Substring.Index) -> Substring.Index {
        var depth = 0
        var last: UInt8 = 0
        var at = start
        while at < text.endIndex {
            change(&depth, text.utf8[at], after: last)
            last = text.utf8[at]
            at = text.utf8.index(after: at)
            if depth == 0 { return at }
        }
        return text.endIndex
    }

    private static func change(_ depth: inout Int, _ byte: UInt8, after last: UInt8) {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"): depth = max(0, depth - 1)
        // Not the one in an arrow.
        case UInt8(ascii: ">") where last != UInt8(ascii: "-"): depth = max(0, depth - 1)
        default: break
        }
    }
}
