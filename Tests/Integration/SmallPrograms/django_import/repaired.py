"""Imports measurements of sensors in one transaction, in Django."""
import sys

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.db import connection, models, transaction  # noqa: E402


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


@transaction.atomic
def import_rows(lines):
    lines = list(lines)
    known = set(Sensor.objects.values_list("code", flat=True))
    Sensor.objects.bulk_create(Sensor(code=code) for code in sorted({code for code, _ in lines} - known))
    sensors = {sensor.code: sensor for sensor in Sensor.objects.filter(code__in={code for code, _ in lines})}
    Measurement.objects.bulk_create(Measurement(sensor=sensors[code], value=value) for code, value in lines)


create()
import_rows(rows())
print(Sensor.objects.count(), Measurement.objects.aggregate(models.Sum("value"))["value__sum"])
