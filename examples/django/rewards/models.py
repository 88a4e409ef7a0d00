from django.db import models


class AdPayment(models.Model):
    # The unique key: a webhook that is delivered twice pays once.
    event_id = models.CharField(max_length=64, unique=True)
    user_id = models.CharField(max_length=20, db_index=True)
    coins = models.PositiveIntegerField()
