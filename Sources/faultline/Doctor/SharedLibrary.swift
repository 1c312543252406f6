import CMachine
import Glibc

/// A library that is found as a program that is linked against it would find it.
struct SharedLibrary {
    private let handle: UnsafeMutableRawPointer

    /// Why a library is not loaded.
    enum Failure: Error {
        /// There is none of that name.
        case missing
        /// There is one, and it cannot be loaded; the linker's reason.
        case unusable(String)
    }

    /// - Parameter loads: Whether to load it; otherwise only one that the program holds already is found.
    init(_ name: String, loads: Bool = true) throws(Failure) {
        guard let handle = dlopen(name, loads ? RTLD_LAZY | RTLD_LOCAL : RTLD_LAZY | RTLD_NOLOAD) else {
            let reason = dlerror().map { String(cString: $0) } ?? ""
            throw Self.failure(reason, name: name)
        }
        self.handle = handle
    }

    /// What the linker's words mean.
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

    /// The path of what holds an address.
    static func path(at address: UnsafeRawPointer) -> String? {
        cmachine_file_at(address).map { String(cString: $0) }
    }
}
