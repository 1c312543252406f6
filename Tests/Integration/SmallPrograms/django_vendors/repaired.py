"""Lists vendors with their cheapest products, in Django."""
import sys

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.db import connection, models, transaction  # noqa: E402
from django.db.models import Exists, OuterRef, Subquery  # noqa: E402, F401


class Vendor(models.Model):
    name = models.CharField(max_length=50)

    class Meta:
        app_label = "store"


class Product(models.Model):
    vendor = models.ForeignKey(Vendor, on_delete=models.CASCADE)
    name = models.CharField(max_length=50)
    price = models.IntegerField()

    class Meta:
        app_label = "store"
        indexes = [models.Index(fields=["vendor", "price"], name="product_vendor_price")]


def create():
    with connection.schema_editor() as editor:
        for model in (Vendor, Product):
            editor.create_model(model)
    with transaction.atomic():
        Vendor.objects.bulk_create(Vendor(pk=i, name=f"Vendor {i}") for i in range(1, 101))
        Product.objects.bulk_create(
            Product(vendor_id=i % 90 + 1, name=f"Product {i}", price=i * 31 % 997) for i in range(1500)
        )


def empty():
    sells = Exists(Product.objects.filter(vendor=OuterRef("pk")))
    return [vendor.name for vendor in Vendor.objects.filter(~sells).order_by("pk")]


def cheapest():
    first = Product.objects.filter(vendor=OuterRef("pk")).order_by("price", "pk")
    vendors = Vendor.objects.annotate(cheapest=Subquery(first.values("name")[:1])).order_by("pk")
    return [vendor.cheapest for vendor in vendors]


create()
print(len(empty()))
print(cheapest()[:3])
