/// The version of Faultline.
enum Version {
    /// What `faultline --version` prints.
    ///
    /// Nothing else states it.
    static let current = "0.1.0"
}
