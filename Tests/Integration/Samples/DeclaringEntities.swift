enum Kind: String { case food, drink }

struct Image {}

enum Barcodes {
    static func name(of barcode: String) -> String { barcode }
}
