"""Imports readings with a commit for each, and uses the new IDs, with SQLAlchemy."""
import sys

from sqlalchemy import Column, Integer, String, create_engine, func, select
from sqlalchemy.orm import declarative_base, sessionmaker

Base = declarative_base()


class Reading(Base):
    __tablename__ = "reading"
    id = Column(Integer, primary_key=True)
    meter = Column(String, nullable=False)
    value = Column(Integer, nullable=False)


class Importer:
    def __init__(self, session):
        self.session = session
        self.keys = []

    def add(self, meter, value):
        reading = Reading(meter=meter, value=value)
        self.session.add(reading)
        self.session.commit()  # finds R28
        self.keys.append(reading.id)  # finds R21 R27


def readings():
    for number in range(60):
        yield f"meter {number % 12}", number * 61 % 211


engine = create_engine("sqlite:///" + sys.argv[1])
Base.metadata.create_all(engine)
with sessionmaker(engine)() as session:
    importer = Importer(session)
    for meter, value in readings():
        importer.add(meter, value)
    print(sum(importer.keys), session.scalar(select(func.sum(Reading.value))))
