"""Lists teams with the number of their players, with SQLAlchemy."""
import sys

from sqlalchemy import Column, ForeignKey, Integer, String, create_engine, func, select
from sqlalchemy.orm import Session, declarative_base

Base = declarative_base()


class Team(Base):
    __tablename__ = "team"
    id = Column(Integer, primary_key=True)
    name = Column(String, nullable=False)


class Player(Base):
    __tablename__ = "player"
    id = Column(Integer, primary_key=True)
    team_id = Column(ForeignKey("team.id"), nullable=False, index=True)


def create(session):
    session.add_all(Team(id=i, name=f"Team {i}") for i in range(1, 121))
    session.flush()
    session.add_all(Player(id=i, team_id=i * 7 % 120 + 1) for i in range(1, 1501))
    session.commit()


def sizes(session):
    query = select(Team.name, func.count()).join(Player, Player.team_id == Team.id).group_by(Team.id)
    return [tuple(row) for row in session.execute(query)]


engine = create_engine("sqlite:///" + sys.argv[1])
Base.metadata.create_all(engine)
with Session(engine) as session:
    create(session)
with Session(engine) as session:
    print(sorted(sizes(session))[-3:])
