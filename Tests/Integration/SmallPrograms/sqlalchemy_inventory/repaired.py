"""Looks up parts by number in two threads, and lists the cheapest, with SQLAlchemy Core and indexes."""
import sys
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Column, Index, Integer, MetaData, String, Table, create_engine, insert, select

metadata = MetaData()
part = Table(
    "part",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("number", String, nullable=False, index=True),
    Column("maker", String, nullable=False),
    Column("price", Integer, nullable=False),
    Index("part_price_number", "price", "number"),
)


def create(engine):
    metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(
            insert(part),
            [
                {"number": f"P{i:05}", "maker": f"Maker {i % 40}", "price": i * 7919 % 9973}
                for i in range(1, 50001)
            ],
        )


def price_of(engine, number):
    with engine.connect() as connection:
        return connection.execute(select(part.c.price).where(part.c.number == number)).scalar_one()


def cheapest(engine, count):
    statement = select(part.c.number, part.c.price).order_by(part.c.price, part.c.number).limit(count)
    with engine.connect() as connection:
        return connection.execute(statement).all()


engine = create_engine("sqlite:///" + sys.argv[1])
create(engine)
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(lambda number: price_of(engine, number), ["P00007", "P04711", "P02500", "P05000"])))
print(cheapest(engine, 3))
print(len(cheapest(engine, 12)))
