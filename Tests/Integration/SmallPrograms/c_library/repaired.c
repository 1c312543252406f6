/* Finds loans of books by the author's name and by the reader's card, with indexes. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void run(sqlite3 *database, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, message);
        exit(1);
    }
}

static void create(sqlite3 *database) {
    run(database, "BEGIN");
    run(database, "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
    run(database, "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER NOT NULL)");
    run(database, "CREATE TABLE loan (book_id INTEGER NOT NULL, card TEXT NOT NULL, day INTEGER NOT NULL)");
    run(database,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)"
        " INSERT INTO book SELECT i, 'Book ' || i, i % 1000 + 1 FROM n");
    run(database, "INSERT INTO author SELECT id, 'Author ' || id FROM book WHERE id <= 1000");
    run(database, "INSERT INTO loan SELECT id, 'C' || (id % 700), id % 365 FROM book");
    run(database, "CREATE INDEX author_name ON author (name)");
    run(database, "CREATE INDEX book_author ON book (author_id)");
    run(database, "CREATE INDEX loan_card ON loan (card)");
    run(database, "COMMIT");
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(database));
        exit(1);
    }
    return statement;
}

static int books_by(sqlite3 *database, const char *author) {
    sqlite3_stmt *statement = prepare(
        database,
        "SELECT book.title FROM book JOIN author ON author.id = book.author_id WHERE author.name = ? ORDER BY book.id");
    sqlite3_bind_text(statement, 1, author, -1, SQLITE_STATIC);
    int count = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) { count++; }
    sqlite3_finalize(statement);
    return count;
}

static int loans(sqlite3 *database, const char *card) {
    sqlite3_stmt *statement = prepare(database, "SELECT book_id, day FROM loan WHERE day >= 0 AND card = ?1");
    sqlite3_bind_text(statement, 1, card, -1, SQLITE_STATIC);
    int sum = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) { sum += sqlite3_column_int(statement, 1); }
    sqlite3_finalize(statement);
    return sum;
}

int main(int argc, char **argv) {
    sqlite3 *database;
    if (argc < 2 || sqlite3_open(argv[1], &database) != SQLITE_OK) { return 1; }
    create(database);
    printf("%d %d\n", books_by(database, "Author 17"), books_by(database, "Author 999"));
    printf("%d %d %d\n", loans(database, "C5"), loans(database, "C77"), loans(database, "C699"));
    sqlite3_close(database);
    return 0;
}
