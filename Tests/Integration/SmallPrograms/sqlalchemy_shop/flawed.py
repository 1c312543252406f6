"""Sums up what customers have ordered, with SQLAlchemy: orders of customers, and lines of orders."""
import sys

from sqlalchemy import Column, ForeignKey, Integer, String, create_engine, select
from sqlalchemy.orm import Session, declarative_base, relationship

Base = declarative_base()


class Customer(Base):
    __tablename__ = "customer"
    id = Column(Integer, primary_key=True)
    name = Column(String, nullable=False)
    orders = relationship("Order", back_populates="customer", order_by="Order.id")


class Order(Base):
    __tablename__ = "customer_order"
    id = Column(Integer, primary_key=True)
    customer_id = Column(ForeignKey("customer.id"), nullable=False, index=True)
    customer = relationship(Customer, back_populates="orders")
    lines = relationship("Line")


class Line(Base):
    __tablename__ = "order_line"
    id = Column(Integer, primary_key=True)
    order_id = Column(ForeignKey("customer_order.id"), nullable=False, index=True)
    price = Column(Integer, nullable=False)


def create(session):
    session.bulk_save_objects([Customer(id=i, name=f"Customer {i}") for i in range(1, 61)])
    session.bulk_save_objects([Order(id=i, customer_id=i % 60 + 1) for i in range(1, 181)])
    session.bulk_save_objects([Line(id=i, order_id=i % 180 + 1, price=i % 53) for i in range(1, 721)])
    session.commit()


def totals(session):
    result = {}
    for customer in session.scalars(select(Customer).order_by(Customer.name)):  # finds R27
        total = 0
        for order in customer.orders:  # finds R27
            total += sum(line.price for line in order.lines)
        result[customer.name] = total
    return result


engine = create_engine("sqlite:///" + sys.argv[1])
Base.metadata.create_all(engine)
with Session(engine) as session:
    create(session)
with Session(engine) as session:
    sums = totals(session)
    print(len(sums), sum(sums.values()), sums["Customer 7"])
