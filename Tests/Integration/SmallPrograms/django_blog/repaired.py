"""Renders the posts of a blog with approved comments and tags, in Django, with prefetches."""
import sys

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["blog"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.db.models import Prefetch  # noqa: E402

from blog.models import Comment, Post, create  # noqa: E402


def comments():
    lines = []
    approved = Prefetch("comments", Comment.objects.filter(approved=True), to_attr="approved_comments")
    for post in Post.objects.order_by("pk").prefetch_related(approved)[:40]:
        for comment in post.approved_comments:
            lines.append(f"{post.title}: {comment.text}")
    return lines


def photos():
    posts = Post.objects.prefetch_related("photo_set").filter(pk__lte=30)
    return [(post.title, [photo.file for photo in post.photo_set.all()]) for post in posts]


def tags():
    names = {}
    for post in Post.objects.filter(pk__gt=150).prefetch_related("tags"):
        names[post.title] = post.tag_names()
    return names


create()
print(sum(map(len, comments())))
print(len(str(photos())))
print(sum(map(len, tags().values())))
