"""Prints invoices with their customers, and the open items of each."""
import sqlite3
import sys


def create(connection):
    connection.executescript(
        """
        CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer, day INTEGER);
        CREATE TABLE item (id INTEGER PRIMARY KEY, invoice_id INTEGER NOT NULL REFERENCES invoice, price INTEGER, paid INTEGER);
        CREATE INDEX item_invoice ON item (invoice_id);
        CREATE INDEX invoice_day ON invoice (day);
        """
    )
    with connection:
        connection.executemany("INSERT INTO customer VALUES (?, ?)", ((i, f"Customer {i}") for i in range(1, 201)))
        connection.executemany("INSERT INTO invoice VALUES (?, ?, ?)", ((i, i * 7 % 200 + 1, i % 365) for i in range(1, 2001)))
        connection.executemany(
            "INSERT INTO item VALUES (?, ?, ?, ?)", ((i, i % 2000 + 1, i % 97, i % 3 == 0) for i in range(1, 6001))
        )


class Invoices:
    def __init__(self, connection):
        self.connection = connection

    def recent(self, count):
        yield from self.connection.execute(
            "SELECT invoice.id, customer.name, day FROM invoice JOIN customer ON customer.id = customer_id"
            " ORDER BY day DESC LIMIT ?",
            (count,),
        )

    def open_sums(self, invoice_ids):
        marks = ", ".join("?" * len(invoice_ids))
        return dict(
            self.connection.execute(
                f"SELECT invoice_id, sum(price) FROM item WHERE invoice_id IN ({marks}) AND paid = 0 GROUP BY invoice_id",
                invoice_ids,
            )
        )


def main():
    connection = sqlite3.connect(sys.argv[1])
    create(connection)
    invoices = Invoices(connection)
    total = 0
    for _, name, day in invoices.recent(1500):
        total += len(name) + day
    print("names", total)
    sums = invoices.open_sums([invoice_id for invoice_id, _, _ in invoices.recent(1200)])
    print("total", total + sum(sums.values()))


main()
