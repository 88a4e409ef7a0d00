"""The least project around `rewards`; yours has settings of its own. Needs `python manage.py migrate --run-syncdb` once."""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF="rewards.urls",
    INSTALLED_APPS=["rewards"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("DATABASE", "coins.sqlite")}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATA_UPLOAD_MAX_MEMORY_SIZE=65536,  # Larger than any webhook.
    SECRET_KEY="nothing here is signed with it",
)
execute_from_command_line(sys.argv)
