"""Renders the posts of a blog with approved comments and tags, in Django."""
import sys

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["blog"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from blog.models import Post, create  # noqa: E402


def comments():
    lines = []
    for post in Post.objects.order_by("pk")[:40]:  # finds R27
        for comment in post.comments.filter(approved=True):
            lines.append(f"{post.title}: {comment.text}")
    return lines


def photos():
    return [(post.title, [photo.file for photo in post.photo_set.all()]) for post in Post.objects.filter(pk__lte=30)]  # finds R27


def tags():
    names = {}
    for post in Post.objects.filter(pk__gt=150):  # finds R27
        names[post.title] = post.tag_names()
    return names


create()
print(sum(map(len, comments())))
print(len(str(photos())))
print(sum(map(len, tags().values())))
