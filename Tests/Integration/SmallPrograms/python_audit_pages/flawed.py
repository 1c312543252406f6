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
    return connection


def pages(connection):
    page = 0
    while True:
        rows = connection.execute(  # finds R14
            "SELECT id, actor, action FROM audit ORDER BY id LIMIT ? OFFSET ?", (PAGE, page * PAGE)
        ).fetchall()
        if not rows:
            return
        yield rows
        page += 1


def search(connection, text):
    return connection.execute("SELECT id FROM audit WHERE action LIKE ?", (f"%{text}%",)).fetchall()  # finds R08


connection = create(sys.argv[1])
checksum = 0
count = 0
for rows in pages(connection):
    count += len(rows)
    checksum += sum(row[0] * len(row[1]) + len(row[2]) for row in rows)
print(count, checksum)
print([len(search(connection, text)) for text in ("record 17 ", "record 2999", "of list 99")])
