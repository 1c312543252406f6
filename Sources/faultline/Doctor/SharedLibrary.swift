import CMachine
import Glibc

/// A shared library, located as the dynamic linker would for a program linked against it.
struct SharedLibrary {
    private let handle: UnsafeMutableRawPointer

    /// The reason why a library cannot be loaded.
    enum Failure: Error {
        /// There is no library of that name.
        case missing
        /// The library exists but cannot be loaded, for the linker's reason.
        case unusable(String)
    }

    /// - Parameter loads: Whether to load the library. If not, only a library that is already loaded is found.
    init(_ name: String, loads: Bool = true) throws(Failure) {
        guard let handle = dlopen(name, loads ? RTLD_LAZY | RTLD_LOCAL : RTLD_LAZY | RTLD_NOLOAD) else {
            let reason = dlerror().map { String(cString: $0) } ?? ""
            throw Self.failure(reason, name: name)
        }
        self.handle = handle
    }

    /// Interprets the linker's message.
    static func failure(_ reason: String, name: String) -> Failure {
        if reason.isEmpty || reason.contains("\(name): cannot open shared object file: No such file") {
            return .missing
        }
        // "liblttng-ust.so.1: file too short"
        return .unusable(
            reason.split(separator: ":").last.map { $0.trimmingPrefix { $0 == " " } }.map(String.init) ?? reason)
    }

    func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        dlsym(handle, name)
    }

    /// The path of the file mapped at an address.
    static func path(at address: UnsafeRawPointer) -> String? {
        cmachine_file_at(address).map { String(cString: $0) }
    }
}
