"""Imports measurements of sensors row by row, in Django."""
import sys

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.db import connection, models  # noqa: E402


class Sensor(models.Model):
    code = models.CharField(max_length=20, unique=True)

    class Meta:
        app_label = "lab"


class Measurement(models.Model):
    sensor = models.ForeignKey(Sensor, on_delete=models.CASCADE)
    value = models.IntegerField()

    class Meta:
        app_label = "lab"


def create():
    with connection.schema_editor() as editor:
        editor.create_model(Sensor)
        editor.create_model(Measurement)


def rows():
    for number in range(120):
        yield f"sensor{number % 30}", number * 37 % 101


def import_rows(lines):
    for code, value in lines:
        sensor, _ = Sensor.objects.get_or_create(code=code)  # finds R27 R28
        Measurement(sensor=sensor, value=value).save()  # finds R28


create()
import_rows(rows())
print(Sensor.objects.count(), Measurement.objects.aggregate(models.Sum("value"))["value__sum"])
