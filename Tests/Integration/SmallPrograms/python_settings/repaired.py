"""Prices orders in two threads. Each reads the settings once."""
import sqlite3
import sys
import threading


class Settings:
    def __init__(self, path):
        connection = sqlite3.connect(path)
        self.values = dict(connection.execute("SELECT name, value FROM setting"))

    def get(self, name):
        return self.values[name]


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
