import FaultlineModel

/// Reads the faults of an entity on one connection.
///
/// Used under the connection's lock.
final class FaultReader {
    let statement: SQLStatement
    private let root: Int
    private let cache: RowCache
    // Changes only while a row is copied, which accesses nothing else here.
    @exclusivity(unchecked)
    private var builder: RowBuilder?

    init(_ statement: SQLStatement, root: Int, cache: RowCache) {
        self.statement = statement
        self.root = root
        self.cache = cache
    }

    /// Copies the statement's current row; the rows of a burst share blocks.
    @inline(__always)
    func copyRow(_ columns: EntityRuntime.RowColumns, _ layout: RowLayout, entity: Int) -> RowPointer {
        if builder == nil { builder = RowBuilder(root: root, cache: cache, blockSize: 4 << 10) }
        return builder!.copySingle(statement.handle, columns, layout, entity: entity)
    }

    /// Releases the block being filled, which should not outlive the use of its rows.
    func finishBurst() {
        builder = nil
    }
}
