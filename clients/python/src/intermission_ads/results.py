"""What the methods of `Ads` and `AsyncAds` return. Moments are RFC 3339 in UTC; fields that are None were not sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar

from .webhook import AdEvent, AnyEventType, EventType, event_arguments, read_start_param

T = TypeVar("T")
Counts = Mapping[str, int]


@dataclass(frozen=True)
class NamedReward:
    """What the bot says it pays for an event. The publisher's ledger decides what it credits."""

    amount: int
    unit: Mapping[str, Mapping[str, str]]
    """The word after the amount, by language and plural category."""


@dataclass(frozen=True)
class Code:
    code: str
    expires_at: str
    expires_in_seconds: int
    miniapp_url: str | None
    """The address of a `web_app` button of an inline keyboard; None where the service does not send it."""
    direct_link: str | None
    """For users whose messenger has no mini-apps; None where the service does not send it."""
    rewards: Mapping[str, NamedReward] = field(default_factory=dict)
    """By event, where the bot's settings name it."""


@dataclass(frozen=True)
class Task:
    """A channel for a user to join."""

    code: str
    """The webhook's `code`."""
    state: Literal["offered", "opened", "held", "kept", "left", "lapsed", "void"]
    """`offered`, `opened`: to be done; `held`: the user has joined, and is to stay; `kept`, `left`: how that ended; `lapsed`,
    `void`: not done in time, or in a way that does not count."""
    kind: Literal["join", "start"]
    """`join`: a channel or group; `start`: a bot."""
    title: str
    username: str | None
    """Of a bot or a public channel, without the @."""
    url: str
    """For a `url` button: it leads to a link that is this user's own."""
    expires_at: str
    reference: str | None
    hold_days: int
    paid_at: Literal["joined", "kept"]
    """`joined`: `task` comes with the join, `task_reversed` if the user leaves too early; `kept`: `task` comes after these days."""
    revenue_micros: int | None
    currency: str | None


@dataclass(frozen=True)
class Card:
    """An ad of a network, to be sent as a message."""

    card_id: str
    label: str
    """Marks it as an ad, in the user's language: send it with the card."""
    title: str | None
    text: str
    """Plain text."""
    image_url: str | None
    button: str
    """The text of the button."""
    url: str
    """For a `url` button: it counts the click and leads on."""
    advertiser: str | None
    expires_at: str
    """Send it, and call `card_shown`, before."""

    @property
    def message(self) -> str:
        """Its marking and advertiser, its title and its text: they fit into a caption."""
        marking = self.label if self.advertiser is None else f"{self.label} · {self.advertiser}"
        return "\n".join(line for line in (marking, self.title, self.text) if line is not None)


@dataclass(frozen=True)
class Availability:
    is_available: bool
    reason: Literal["cooldown", "daily-cap", "no-ad", "bot-suspended"] | None
    available_at: str | None
    """When to ask again; None where it is unknown."""
    rewards: Mapping[str, NamedReward] = field(default_factory=dict)
    """By event, where the bot's settings name it."""


@dataclass(frozen=True)
class Earned:
    event: EventType
    event_id: str
    occurred_at: str


@dataclass(frozen=True)
class CodeSession:
    """A view of the ad with this code."""

    session_id: str
    state: Literal["opened", "playing", "watched", "rewarded"]
    opened_at: str
    watched_at: str | None
    closed_at: str | None
    accepted_ms: int
    """How much of the video was played, as the server counts it."""
    duration_ms: int
    refusals: Counts
    """How many reports were refused, by reason."""
    suspicions: tuple[str, ...]
    review: Literal["held", "refused"] | None
    """Where a suspicious view was closed: `held` waits for the operator, `refused` earns nothing."""


@dataclass(frozen=True)
class CodeDetails:
    """What a code earned, and why it did not."""

    code: str
    bot_id: str
    user_id: str
    reference: str | None
    start_param: str | None
    """The `startapp` value of the link that opened the mini-app. Whoever made the link chose it: the user may have."""
    issued_at: str
    expires_at: str
    is_expired: bool
    earned: tuple[Earned, ...]
    sessions: tuple[CodeSession, ...]
    clicks: Counts
    """Visits of the direct link, by outcome: `counted`, or why not."""
    requests: Counts
    """Ad requests with this code, by outcome: `filled`, or why not."""
    can_earn: tuple[EventType, ...] | None = None
    """What the code can still earn now; empty once it is used up or expired, None from older services."""
    pay_per_code: Literal["once", "each"] | None = None
    """`once`: the code earns one event, whichever comes first; `each`: one of both. Pay by the same rule."""
    join_title: str | None = None
    """The channel or group that a view lets the user into."""


@dataclass(frozen=True)
class ListedEvent(AdEvent):
    delivery: Literal["waiting", "sending", "delivered", "failed", "held", "unknown", "not-kept"]
    """The state of its webhook; `not-kept`: the event is so old that its webhook is no longer kept."""


@dataclass(frozen=True)
class EventsPage:
    events: tuple[ListedEvent, ...]
    next: str
    """Pass it as `after` for the next page. Store it even where the page is empty."""
    has_more: bool


@dataclass(frozen=True)
class StatsFigures:
    """The fields are those of `GET /client/v1/stats`; rates are None where nothing can be divided."""

    requests: int
    fills: int
    fill_rate: float | None
    no_fills: Counts
    limited: Counts
    requests_refused: Counts
    starts: int
    first_quartiles: int
    midpoints: int
    third_quartiles: int
    completions: int
    completion_rate: float | None
    closes: Counts
    rewards: int
    views_held: Counts
    views_refused: Counts
    clicks: int
    clicks_refused: Counts
    refunds: Counts
    conversions: int
    revenue_micros: int
    """The publisher's share, in millionths of the currency."""
    ecpm_micros: int | None


@dataclass(frozen=True)
class StatsRow(StatsFigures):
    key: str
    """The day, the beginning of the hour, or an id; empty for figures without an id."""


@dataclass(frozen=True)
class Deliveries:
    delivered: int
    under_way: int
    failed: int
    success_rate: float | None
    since: str | None
    """Only of events since then: earlier webhooks are no longer kept. `None`: of the whole period."""


@dataclass(frozen=True)
class Stats:
    currency: str
    """ISO 4217."""
    begins_at: str
    ends_at: str
    by: Literal["hour", "day", "campaign", "creative"]
    counted_until: str | None
    """Everything before this moment is counted."""
    rows: tuple[StatsRow, ...]
    total: StatsFigures
    deliveries: Deliveries


@dataclass(frozen=True)
class ReferenceFigures:
    """What codes of some references earned."""

    rewards: int
    """Views that earned and were charged."""
    clicks: int
    """Visits of direct links that counted and were charged."""
    users: int
    """How many users earned these."""
    refunds: int
    """How many of these rewards and clicks were refunded, whenever that was."""
    revenue_micros: int
    """The publisher's share of what was charged, without the refunded ones, in millionths of the currency."""


@dataclass(frozen=True)
class ReferenceRow(ReferenceFigures):
    key: str
    """The day, the beginning of the hour, or the reference."""


@dataclass(frozen=True)
class ReferenceStats:
    currency: str
    """ISO 4217."""
    begins_at: str
    ends_at: str
    by: Literal["hour", "day", "reference"]
    reference_prefix: str
    rows: tuple[ReferenceRow, ...]
    """References with the greatest revenue come first; at most 1000."""
    rows_left_out: int
    """How many further rows there are; `total` counts them."""
    total: ReferenceFigures


def read_reference_stats(answer: Mapping[str, Any]) -> ReferenceStats:
    return ReferenceStats(
        currency=answer["currency"],
        begins_at=answer["from"],
        ends_at=answer["to"],
        by=answer["by"],
        reference_prefix=answer["reference_prefix"],
        rows=tuple(_take(ReferenceRow, row) for row in answer["rows"]),
        rows_left_out=answer.get("rows_left_out", 0),
        total=_take(ReferenceFigures, answer["total"]),
    )


@dataclass(frozen=True)
class WebhookTest:
    event_id: str
    is_delivered: bool
    """Answered 2xx."""
    status: int | None
    error_class: str | None
    """Why there was no valid answer: `dns`, `refused`, `tls`, `timeout-total`, `redirect` …"""
    answer: str | None
    """The beginning of the answer, or a description of the failure."""
    advice: str | None
    """What to check, unless all is well: a receiver that answers 2xx may record nothing."""
    warnings: tuple[str, ...] = ()
    """Why a 2xx may not mean that the receiver records events."""


def read_code(answer: Mapping[str, Any]) -> Code:
    return Code(
        code=answer["code"],
        expires_at=answer["expires_at"],
        expires_in_seconds=int(answer["expires_in"]),
        miniapp_url=answer.get("miniapp_url"),
        direct_link=answer.get("direct_link"),
        rewards=_read_rewards(answer),
    )


def read_availability(answer: Mapping[str, Any]) -> Availability:
    return Availability(
        is_available=answer["available"] is True,
        reason=answer.get("reason"),
        available_at=answer.get("available_at"),
        rewards=_read_rewards(answer),
    )


def read_tasks(answer: Mapping[str, Any]) -> tuple[Task, ...]:
    return tuple(read_task(task) for task in answer["tasks"])


def read_card(answer: Mapping[str, Any]) -> Card | None:
    card = answer["card"]
    if card is None:
        return None
    return Card(
        card_id=card["card_id"],
        label=card["label"],
        title=card.get("title"),
        text=card["text"],
        image_url=card.get("image_url"),
        button=card["button"],
        url=card["url"],
        advertiser=card.get("advertiser"),
        expires_at=card["expires_at"],
    )


def read_card_shown(answer: Mapping[str, Any]) -> bool:
    return answer["counted"] is True


def read_task(answer: Mapping[str, Any]) -> Task:
    return Task(
        code=answer["code"],
        state=answer["state"],
        kind=answer.get("kind", "join"),
        title=answer["title"],
        username=answer.get("username"),
        url=answer["url"],
        expires_at=answer["expires_at"],
        reference=answer.get("reference"),
        hold_days=int(answer["hold_days"]),
        paid_at=answer["paid_at"],
        revenue_micros=answer.get("revenue_micros"),
        currency=answer.get("currency"),
    )


def _read_rewards(answer: Mapping[str, Any]) -> Mapping[str, NamedReward]:
    return {event: _take(NamedReward, reward) for event, reward in answer.get("rewards", {}).items()}


def read_code_details(answer: Mapping[str, Any]) -> CodeDetails:
    return CodeDetails(
        code=answer["code"],
        bot_id=answer["bot_id"],
        user_id=answer["user_tg_id"],
        reference=answer.get("reference"),
        start_param=read_start_param(answer.get("start_param")),
        issued_at=answer["issued_at"],
        expires_at=answer["expires_at"],
        is_expired=answer["is_expired"],
        earned=tuple(_take(Earned, one) for one in answer["earned"]),
        sessions=tuple(
            _take(CodeSession, {**one, "suspicions": tuple(one.get("suspicions", ())), "review": one.get("review")})
            for one in answer["sessions"]
        ),
        clicks=answer["clicks"],
        requests=answer.get("requests", {}),
        can_earn=tuple(answer["can_earn"]) if answer.get("can_earn") is not None else None,
        pay_per_code=answer.get("pay_per_code"),
        join_title=(answer.get("join") or {}).get("title"),
    )


def read_events_page(answer: Mapping[str, Any]) -> EventsPage:
    events = tuple(_read_listed_event(one) for one in answer["events"])
    return EventsPage(events=events, next=answer["next"], has_more=answer["has_more"] is True)


def _read_listed_event(one: Mapping[str, Any]) -> ListedEvent:
    return ListedEvent(**event_arguments(one), delivery=one["delivery"])


def read_stats(answer: Mapping[str, Any]) -> Stats:
    return Stats(
        currency=answer["currency"],
        begins_at=answer["from"],
        ends_at=answer["to"],
        by=answer["by"],
        counted_until=answer.get("counted_until"),
        rows=tuple(_take(StatsRow, row) for row in answer["rows"]),
        total=_take(StatsFigures, answer["total"]),
        deliveries=_take(Deliveries, {**answer["deliveries"], "since": answer["deliveries"].get("since")}),
    )


@dataclass(frozen=True)
class Attempt:
    attempt: int
    started_at: str
    url: str
    """The webhook address at that time."""
    status: int | None
    """None without a valid answer."""
    error_class: str | None
    answer: str | None
    """The beginning of the answer, or a description of the failure."""
    advice: str | None
    """What to check; None after a 2xx."""
    total_ms: int | None
    next_at: str | None
    is_redelivery: bool


@dataclass(frozen=True)
class EventAttempts:
    event_id: str
    event: AnyEventType
    delivery: str
    explanation: str
    """Why the delivery is in this state, and what to do."""
    next_attempt_at: str | None
    is_test: bool
    attempts: tuple[Attempt, ...]
    """Oldest first, at most the latest 200."""


def read_attempts(answer: Mapping[str, Any]) -> EventAttempts:
    return EventAttempts(
        event_id=answer["event_id"],
        event=answer["event"],
        delivery=answer["delivery"],
        explanation=answer["explanation"],
        next_attempt_at=answer.get("next_attempt_at"),
        is_test=answer.get("test") is True,
        attempts=tuple(_read_attempt(made) for made in answer["attempts"]),
    )


def _read_attempt(made: Mapping[str, Any]) -> Attempt:
    return Attempt(
        attempt=made["attempt"],
        started_at=made["started_at"],
        url=made["url"],
        status=made.get("status"),
        error_class=made.get("error_class"),
        answer=made.get("answer"),
        advice=made.get("advice"),
        total_ms=made.get("total_ms"),
        next_at=made.get("next_at"),
        is_redelivery=made.get("redelivery") is True,
    )


def read_webhook_test(answer: Mapping[str, Any]) -> WebhookTest:
    return WebhookTest(
        event_id=answer["event_id"],
        is_delivered=answer["delivered"] is True,
        status=answer.get("status"),
        error_class=answer.get("error_class"),
        answer=answer.get("answer"),
        advice=answer.get("advice"),
        warnings=tuple(answer.get("warnings", ())),
    )


def _take(kind: type[T], answer: Mapping[str, Any]) -> T:
    """Fields that a newer service sends in addition are ignored."""
    return kind(**{one.name: answer[one.name] for one in fields(kind)})  # type: ignore[arg-type]
