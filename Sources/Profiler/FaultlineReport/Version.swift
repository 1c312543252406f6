/// The version of Faultline.
package enum Version {
    /// The output of `faultline --version`, and the version in the documents of other tools' formats.
    ///
    /// The version is defined only here.
    package static let current = "0.1.0"
}
