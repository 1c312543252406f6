"""A dashboard of events: the newest ones, those of a device, and which users have any. In Django."""
import sys

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.db import connection, models, transaction  # noqa: E402


class User(models.Model):
    name = models.CharField(max_length=30)

    class Meta:
        app_label = "dashboard"


class Event(models.Model):
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    device = models.CharField(max_length=30)
    happened = models.IntegerField()

    class Meta:
        app_label = "dashboard"


def create():
    with connection.schema_editor() as editor:
        editor.create_model(User)
        editor.create_model(Event)
    with transaction.atomic():
        User.objects.bulk_create(User(pk=i, name=f"User {i}") for i in range(1, 101))
        Event.objects.bulk_create(
            Event(user_id=i % 60 + 1, device=f"device{i % 900}", happened=i * 7919 % 100003) for i in range(20000)
        )


def newest(limit):
    return list(Event.objects.order_by("-happened")[:limit])  # finds R06


def of_device(device):
    return Event.objects.filter(device=device).count()  # finds R06


def active_users():
    names = []
    for user in User.objects.all():  # finds R27
        if user.event_set.count() > 0:
            names.append(user.name)
    return names


create()
for limit in range(20, 32):
    print([event.happened for event in newest(limit)][:3])
print([of_device(f"device{number}") for number in (3, 77, 512, 700)])
print(len(active_users()))
