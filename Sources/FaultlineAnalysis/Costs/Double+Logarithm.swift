extension Double {
    /// The logarithm to the base 2 of a number from 1 on, within a tenth: whole between powers of two it is a line.
    var binaryLogarithm: Double { Double(exponent) + (significand - 1) }
}
