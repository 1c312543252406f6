"""Small programs that do not know Faultline, to be measured alone and while they are recorded.

    programs.py points STORE | compute | allocate

Each prints the CPU time of its work in nanoseconds.
"""

import sqlite3
import sys
import time


def points(store):
    """Looks up rows by key, in a transaction."""
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("PRAGMA cache_size = -64000")
    connection.execute("BEGIN")
    sql = "SELECT Z_PK, ZFIRSTNAME, ZLASTNAME, ZAGE, ZHEIGHT, ZSCORE FROM ZPERSON WHERE Z_PK = ?"
    find(connection, sql, 20_000)
    start = time.thread_time_ns()
    find(connection, sql, 100_000)
    return time.thread_time_ns() - start


def find(connection, sql, count):
    cursor = connection.cursor()
    for number in range(count):
        cursor.execute(sql, (number * 7919 % 10_000 + 1,)).fetchone()


def compute():
    state = 1
    for _ in range(10_000_000):
        state = (state * 31 + 7) % 1_000_003
    return time.process_time_ns()


def allocate():
    """Fills and drops dictionaries of strings and lists, whose larger blocks come from the C library."""
    for _ in range(30):
        rows = {number: [f"row {number}", str(number) * 200, list(range(100))] for number in range(10_000)}
        rows.clear()
    return time.process_time_ns()


if __name__ == "__main__":
    works = {"points": points, "compute": compute, "allocate": allocate}
    print(works[sys.argv[1]](*sys.argv[2:]))
