"""Lists orders with their customers and countries, in Django."""
import sys

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.db import connection, models, transaction  # noqa: E402


class Country(models.Model):
    name = models.CharField(max_length=50)

    class Meta:
        app_label = "shop"


class Customer(models.Model):
    name = models.CharField(max_length=50)
    country = models.ForeignKey(Country, on_delete=models.CASCADE)

    class Meta:
        app_label = "shop"

    def label(self):
        return f"{self.name} ({self.country.name})"


class Order(models.Model):
    buyer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="orders")
    sent = models.BooleanField(default=False, db_index=True)
    total = models.IntegerField()

    class Meta:
        app_label = "shop"

    def title(self):
        return f"{self.pk}: {self.buyer.name}, {self.total}"


def create():
    with connection.schema_editor() as editor:
        for model in (Country, Customer, Order):
            editor.create_model(model)
    with transaction.atomic():
        countries = [Country(pk=i, name=f"Country {i}") for i in range(1, 41)]
        Country.objects.bulk_create(countries)
        Customer.objects.bulk_create(Customer(pk=i, name=f"Buyer {i}", country_id=i % 40 + 1) for i in range(1, 301))
        Order.objects.bulk_create(Order(buyer_id=i % 300 + 1, sent=i % 10 == 0, total=i % 977) for i in range(3000))


def open_orders():
    return Order.objects.filter(sent=True).order_by("-pk")


def orders_page():
    return [order.title() for order in open_orders()[:50]]  # finds R27


def labels_page():
    labels = []
    for customer in Customer.objects.filter(pk__lte=60):  # finds R27
        labels.append(customer.label())
    return labels


create()
print(sum(map(len, orders_page())))
print(sum(map(len, labels_page())))
