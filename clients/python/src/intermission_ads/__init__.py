"""What a bot's backend needs of an Intermission ad service: codes, events, and webhooks that are handled once."""

from .client import Ads, AsyncAds
from .errors import AdsError
from .join_languages import JoinTexts
from .join_requests import JoinDecision, JoinRules
from .joins import JoinStore, PendingJoin
from .refusal import WebhookRefusal
from .operations import Consent
from .results import (
    Attempt,
    Availability,
    Card,
    Code,
    CodeDetails,
    CodeSession,
    Deliveries,
    Earned,
    EventAttempts,
    EventsPage,
    ListedEvent,
    NamedReward,
    ReferenceFigures,
    ReferenceRow,
    ReferenceStats,
    Stats,
    StatsFigures,
    StatsRow,
    Task,
    WebhookTest,
)
from .settings import read_secret
from .sqlite_store import SqliteStore
from .stores import EventStore, MemoryStore
from .webhook import AdEvent, Malformed, NotSigned, WebhookRefused, verify_webhook

__all__ = [
    "AdEvent",
    "Ads",
    "AdsError",
    "AsyncAds",
    "Attempt",
    "Availability",
    "Card",
    "Code",
    "CodeDetails",
    "CodeSession",
    "Consent",
    "Deliveries",
    "Earned",
    "EventStore",
    "EventAttempts",
    "EventsPage",
    "JoinDecision",
    "JoinRules",
    "JoinStore",
    "JoinTexts",
    "ListedEvent",
    "Malformed",
    "MemoryStore",
    "NamedReward",
    "NotSigned",
    "PendingJoin",
    "ReferenceFigures",
    "ReferenceRow",
    "ReferenceStats",
    "SqliteStore",
    "Stats",
    "StatsFigures",
    "StatsRow",
    "Task",
    "WebhookRefusal",
    "WebhookRefused",
    "WebhookTest",
    "read_secret",
    "verify_webhook",
]
