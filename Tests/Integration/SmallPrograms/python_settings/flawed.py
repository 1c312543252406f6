"""Prices orders in two threads. Each asks for the same settings again and again."""
import sqlite3
import sys
import threading


class Settings:
    def __init__(self, path):
        self.connection = sqlite3.connect(path, check_same_thread=False)

    def get(self, name):
        return self.connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()[0]  # finds R29


def price(settings, amount):
    return amount * (100 + int(settings.get("tax"))) // 100


def shipping(settings, orders):
    return sum(int(settings.get("shipping")) for _ in orders)


def create(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    with connection:
        connection.executemany("INSERT INTO setting VALUES (?, ?)", [("tax", "19"), ("shipping", "4"), ("currency", "EUR")])
    connection.close()


def main():
    create(sys.argv[1])
    results = {}

    def work(name, job):
        settings = Settings(sys.argv[1])
        results[name] = job(settings)

    jobs = [
        threading.Thread(target=work, args=("prices", lambda s: sum(price(s, amount) for amount in range(150)))),
        threading.Thread(target=work, args=("shipping", lambda s: shipping(s, range(120)))),
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    print(sorted(results.items()))


main()
