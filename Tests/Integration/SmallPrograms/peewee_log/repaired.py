"""Writes a log with Peewee, in one transaction, and reads it back."""
import sys

from peewee import CharField, IntegerField, Model, SqliteDatabase, fn

database = SqliteDatabase(sys.argv[1], pragmas={"foreign_keys": 1})


class Entry(Model):
    level = CharField()
    code = IntegerField()
    message = CharField()

    class Meta:
        database = database


class Log:
    def write(self, level, code, message):
        return Entry.create(level=level, code=code, message=message)

    def warn(self, code):
        self.write("warning", code, f"code {code}")

    def info(self, code):
        self.write("info", code, f"all is well: {code}")


with database:
    database.create_tables([Entry])
log = Log()
with database.atomic():
    for number in range(100):
        if number % 3:
            log.info(number)
        else:
            log.warn(number)
print(Entry.select(fn.COUNT(Entry.id), fn.SUM(Entry.code)).scalar(as_tuple=True))
for entry in Entry.select().where(Entry.code == 42):
    print(entry.message)
