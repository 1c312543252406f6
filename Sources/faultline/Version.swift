/// The version of Faultline.
enum Version {
    /// The output of `faultline --version`.
    ///
    /// The version is defined only here.
    static let current = "0.1.0"
}
