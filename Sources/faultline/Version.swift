/// The version of Faultline.
enum Version {
    /// The version that `faultline --version` prints. Nothing else states it.
    static let current = "0.1.0"
}
