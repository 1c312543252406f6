"""Exports an audit log in pages, and searches it."""
import sqlite3
import sys

PAGE = 50


def create(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE audit (id INTEGER PRIMARY KEY, day INTEGER NOT NULL, actor TEXT, action TEXT)")
    with connection:
        connection.executemany(
            "INSERT INTO audit VALUES (?, ?, ?, ?)",
            ((i, i // 20, f"user{i % 83}", f"changed record {i * 31 % 6007} of list {i % 11}") for i in range(1, 6001)),
        )
    connection.execute("CREATE VIRTUAL TABLE audit_search USING fts5(action, content = audit, tokenize = 'trigram')")
    with connection:
        connection.execute("INSERT INTO audit_search(audit_search) VALUES ('rebuild')")
    return connection


def pages(connection):
    last = 0
    while True:
        rows = connection.execute(
            "SELECT id, actor, action FROM audit WHERE id > ? ORDER BY id LIMIT ?", (last, PAGE)
        ).fetchall()
        if not rows:
            return
        yield rows
        last = rows[-1][0]


def search(connection, text):
    return connection.execute(
        "SELECT id FROM audit WHERE rowid IN (SELECT rowid FROM audit_search WHERE action LIKE ?)", (f"%{text}%",)
    ).fetchall()


connection = create(sys.argv[1])
checksum = 0
count = 0
for rows in pages(connection):
    count += len(rows)
    checksum += sum(row[0] * len(row[1]) + len(row[2]) for row in rows)
print(count, checksum)
print([len(search(connection, text)) for text in ("record 17 ", "record 2999", "of list 99")])
