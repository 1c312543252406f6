"""A Django page that lists books with their authors, one query each. Prints the CPU time of its work in nanoseconds."""

import time

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    INSTALLED_APPS=["django.contrib.contenttypes"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DEBUG=False,
)
django.setup()

from django.db import connection, models  # noqa: E402
from django.template import engines  # noqa: E402


class Author(models.Model):
    name = models.CharField(max_length=80)

    class Meta:
        app_label = "contenttypes"


class Book(models.Model):
    title = models.CharField(max_length=80)
    author = models.ForeignKey(Author, on_delete=models.CASCADE)

    class Meta:
        app_label = "contenttypes"


def fill():
    with connection.schema_editor() as editor:
        editor.create_model(Author)
        editor.create_model(Book)
    Author.objects.bulk_create(Author(name=f"Author {number}") for number in range(100))
    Book.objects.bulk_create(Book(title=f"Book {number}", author_id=number + 1) for number in range(100))


PAGE = engines["django"].from_string("{% for b in books %}<li>{{ b.title }} by {{ b.author.name }}</li>{% endfor %}")


def render(pages):
    for _ in range(pages):
        PAGE.render({"books": Book.objects.all()})


if __name__ == "__main__":
    fill()
    render(3)
    start = time.thread_time_ns()
    render(40)
    print(time.thread_time_ns() - start)
