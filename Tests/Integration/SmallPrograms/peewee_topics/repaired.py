"""Lists topics with the number of their posts, with Peewee."""
import sys

from peewee import JOIN, CharField, ForeignKeyField, Model, SqliteDatabase, fn  # noqa: F401

database = SqliteDatabase(sys.argv[1])


class Base(Model):
    class Meta:
        database = database


class Topic(Base):
    title = CharField()


class Post(Base):
    topic = ForeignKeyField(Topic, backref="posts")
    body = CharField()


def create():
    database.create_tables([Topic, Post])
    with database.atomic():
        Topic.insert_many([(f"Topic {i}",) for i in range(120)], fields=[Topic.title]).execute()
        Post.insert_many([(i % 110 + 1, "post") for i in range(1400)], fields=[Post.topic, Post.body]).execute()


def sizes():
    query = Topic.select(Topic, fn.COUNT(Post.id).alias("size")).join(Post, JOIN.LEFT_OUTER).group_by(Topic.id)
    return [topic.size for topic in query]


create()
print(sum(sizes()))
