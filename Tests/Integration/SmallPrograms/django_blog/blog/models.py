"""The models of the blog."""
from django.db import connection, models, transaction


class Tag(models.Model):
    name = models.CharField(max_length=30)


class Post(models.Model):
    title = models.CharField(max_length=80)
    tags = models.ManyToManyField(Tag)

    def tag_names(self):
        return ", ".join(tag.name for tag in self.tags.all())


class Comment(models.Model):
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="comments")
    text = models.CharField(max_length=200)
    approved = models.BooleanField(default=True)


class Photo(models.Model):
    post = models.ForeignKey(Post, on_delete=models.CASCADE)
    file = models.CharField(max_length=80)


def create():
    with connection.schema_editor() as editor:
        for model in (Tag, Post, Comment, Photo):
            editor.create_model(model)
    with transaction.atomic():
        Tag.objects.bulk_create(Tag(pk=i, name=f"tag{i}") for i in range(1, 21))
        Post.objects.bulk_create(Post(pk=i, title=f"Post {i}") for i in range(1, 201))
        link = Post.tags.through
        link.objects.bulk_create(link(post_id=i, tag_id=(i + j * 3) % 20 + 1) for i in range(1, 201) for j in range(3))
        Comment.objects.bulk_create(
            Comment(post_id=i % 200 + 1, text=f"Comment {i}", approved=i % 4 != 0) for i in range(2000)
        )
        Photo.objects.bulk_create(Photo(post_id=i % 200 + 1, file=f"{i}.jpg") for i in range(400))
