import FaultlineModel

/// What the faults of an entity are read with, on one connection.
///
/// Used under the connection's lock.
final class FaultReader {
    let statement: SQLStatement
    private let root: Int
    private let cache: RowCache
    // Changed while a row is copied, which reads nothing else of this.
    @exclusivity(unchecked)
    private var builder: RowBuilder?

    init(_ statement: SQLStatement, root: Int, cache: RowCache) {
        self.statement = statement
        self.root = root
        self.cache = cache
    }

    /// Copies the row that the statement stands on; the rows of a burst lie in one block.
    @inline(__always)
    func copyRow(_ columns: EntityRuntime.RowColumns, _ layout: RowLayout, entity: Int) -> RowPointer {
        if builder == nil { builder = RowBuilder(root: root, cache: cache, blockSize: 4 << 10) }
        return builder!.copySingle(statement.handle, columns, layout, entity: entity)
    }

    /// Lets go of the block that is being filled: it is not to stay if nobody uses its rows.
    func finishBurst() {
        builder = nil
    }
}
