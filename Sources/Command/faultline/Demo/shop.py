"""A small shop in Django, with five flaws or without them.

    python3 shop.py prepare STORE flawed|improved
    python3 shop.py run STORE flawed|improved MEMORY
"""

import sys

import django
from django.conf import settings

action, store = sys.argv[1:3]
is_flawed = sys.argv[3:4] == ["flawed"]

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": store}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.db import connection, models, transaction  # noqa: E402 (needs the settings)


class Author(models.Model):
    name = models.CharField(max_length=100)

    class Meta:
        app_label = "shop"


class Book(models.Model):
    title = models.CharField(max_length=100, db_index=True)
    isbn = models.CharField(max_length=20)
    author = models.ForeignKey(Author, on_delete=models.CASCADE)

    class Meta:
        app_label = "shop"


class Visit(models.Model):
    page = models.CharField(max_length=100)

    class Meta:
        app_label = "shop"


def prepare():
    with connection.schema_editor() as editor:
        for model in (Author, Book, Visit):
            editor.create_model(model)
    Author.objects.bulk_create([Author(name="Author %04d" % number) for number in range(500)])
    authors = list(Author.objects.order_by("name"))
    Book.objects.bulk_create(
        [Book(title="Book %05d" % n, isbn="978-%06d" % n, author=authors[n % 500]) for n in range(20_000)]
    )


def list_books():
    """The author of each book is read when its name is needed."""
    books = Book.objects.order_by("title")[:100]
    if not is_flawed:
        books = books.select_related("author")
    for book in books:
        print(book.title, "by", book.author.name)


def list_authors():
    """The books of each author are read when they are counted."""
    authors = Author.objects.order_by("id")[:50]
    if not is_flawed:
        authors = authors.prefetch_related("book_set")
    for author in authors:
        print(author.name, "wrote", len(author.book_set.all()), "books")


def look_up():
    """No index leads to a book's number."""
    for number in (19_711, 19_950, 19_999):
        print(Book.objects.filter(isbn="978-%06d" % number).first())


def draw_headers():
    """The number of books is read for each page, although it does not change."""
    count = Book.objects.count()
    for page in range(100):
        if is_flawed:
            count = Book.objects.count()
        print("page", page + 1, "of a shop with", count, "books")


def count_visits():
    """Each visit is a transaction of its own."""
    visits = [Visit(page="page %d" % number) for number in range(40)]
    if is_flawed:
        for visit in visits:
            visit.save()
    else:
        with transaction.atomic():
            for visit in visits:
                visit.save()
    print(Visit.objects.count(), "visits")


if action == "prepare":
    prepare()
    if not is_flawed:
        connection.cursor().execute("CREATE INDEX shop_book_isbn ON shop_book(isbn)")
else:
    list_books()
    list_authors()
    look_up()
    draw_headers()
    count_visits()
    # The kernel's figure for the process counts what its parent used before it started this program.
    with open("/proc/self/status") as status, open(sys.argv[4], "w") as file:
        peak = next(line for line in status if line.startswith("VmHWM:"))
        file.write(str(int(peak.split()[1]) * 1024))
