extension Double {
    /// An approximate base-2 logarithm of a number of at least 1, linear between powers of two and accurate within 0.1.
    var binaryLogarithm: Double { Double(exponent) + (significand - 1) }
}
