"""Hands out the jobs of a queue, nearly all of which are done."""
import sqlite3
import sys


def create(connection):
    connection.execute("CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT, priority INTEGER, due INTEGER, result TEXT)")
    with connection:
        connection.executemany(
            "INSERT INTO job (state, priority, due) VALUES (?, ?, ?)",
            (("open" if i % 400 == 7 else "done", i % 5, i * 37 % 50000) for i in range(40000)),
        )
    connection.execute("CREATE INDEX job_state ON job (state)")


def next_job(connection):
    return connection.execute(
        "SELECT id FROM job WHERE state = 'open' AND due < 60000 ORDER BY priority DESC, due LIMIT 1"
    ).fetchone()


def main():
    connection = sqlite3.connect(sys.argv[1])
    create(connection)
    done = []
    with connection:
        while job := next_job(connection):
            connection.execute("UPDATE job SET state = 'done' WHERE id = ?", job)
            done += job
    print(len(done), sum(done))


main()
