"""Imports readings with one commit, and uses the new IDs, with SQLAlchemy."""
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
        self.added = []

    def add(self, meter, value):
        reading = Reading(meter=meter, value=value)
        self.session.add(reading)
        self.added.append(reading)

    def finish(self):
        self.session.flush()
        keys = [reading.id for reading in self.added]
        self.session.commit()
        return keys


def readings():
    for number in range(60):
        yield f"meter {number % 12}", number * 61 % 211


engine = create_engine("sqlite:///" + sys.argv[1])
Base.metadata.create_all(engine)
with sessionmaker(engine)() as session:
    importer = Importer(session)
    for meter, value in readings():
        importer.add(meter, value)
    keys = importer.finish()
    print(sum(keys), session.scalar(select(func.sum(Reading.value))))
