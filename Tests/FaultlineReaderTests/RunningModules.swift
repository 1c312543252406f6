import CSymbolFixture
import FaultlineTrace

/// The modules of the test's own process, as a recorder writes them.
enum RunningModules {
    static func all() -> [ModuleEntry] {
        var modules: [ModuleEntry] = []
        let module = UnsafeMutablePointer<fixture_module>.allocate(capacity: 1)
        defer { module.deallocate() }
        while fixture_module_at(Int32(modules.count), module) != 0 {
            modules.append(
                ModuleEntry(
                    path: text(module, \.path), bias: hexadecimal(module.pointee.bias),
                    start: hexadecimal(module.pointee.start), end: hexadecimal(module.pointee.end),
                    buildID: text(module, \.buildID)))
        }
        return modules
    }

    static func hexadecimal(_ number: UInt64) -> String {
        "0x" + String(number, radix: 16)
    }

    private static func text<Characters>(
        _ module: UnsafeMutablePointer<fixture_module>, _ member: KeyPath<fixture_module, Characters>
    ) -> String {
        withUnsafeBytes(of: module.pointee[keyPath: member]) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
