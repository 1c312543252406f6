/// The words that statements begin with.
enum SQLVerb {
    /// Whether a word is one, in capitals or not.
    static func isVerb(_ word: some Collection<UInt8>) -> Bool {
        word.count <= 12 && all.contains(String(decoding: word, as: UTF8.self).uppercased())
    }

    private static let all = Set(
        """
        SELECT INSERT UPDATE DELETE REPLACE MERGE WITH VALUES TABLE BEGIN START COMMIT END ROLLBACK ABORT SAVEPOINT RELEASE \
        PRAGMA CREATE DROP ALTER RENAME TRUNCATE ANALYZE OPTIMIZE VACUUM REINDEX REFRESH EXPLAIN DESCRIBE DESC SHOW SET RESET \
        USE CALL EXEC EXECUTE PREPARE DEALLOCATE DECLARE FETCH MOVE CLOSE LOCK UNLOCK GRANT REVOKE ATTACH DETACH COPY LOAD DO \
        LISTEN UNLISTEN NOTIFY COMMENT CLUSTER CHECKPOINT DISCARD FLUSH KILL HANDLER
        """.split(separator: " ").map(String.init))
}
