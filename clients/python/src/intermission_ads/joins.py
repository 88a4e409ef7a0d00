"""The requests to join a channel that wait for their ad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class PendingJoin:
    """A request to join a channel or group. A user has one for a chat."""

    chat_id: str
    user_id: str
    query_id: str | None
    """Of the join request query; None where Telegram sent none."""
    decide_at: float
    """Unix time: when it is decided without an ad."""


class JoinStore(Protocol):
    async def put(self, join: PendingJoin) -> None:
        """Replaces an earlier request of the same user and chat."""

    async def get(self, chat_id: str, user_id: str) -> PendingJoin | None: ...

    async def late(self, now: float) -> Sequence[PendingJoin]:
        """Those whose time is over, at most 100."""

    async def remove(self, join: PendingJoin) -> None:
        """Does nothing if a later request has replaced this one."""


class MemoryJoins:
    """Forgets its requests at a restart."""

    def __init__(self) -> None:
        self._joins: dict[tuple[str, str], PendingJoin] = {}

    async def put(self, join: PendingJoin) -> None:
        self._joins[join.chat_id, join.user_id] = join

    async def get(self, chat_id: str, user_id: str) -> PendingJoin | None:
        return self._joins.get((chat_id, user_id))

    async def late(self, now: float) -> list[PendingJoin]:
        return [join for join in self._joins.values() if join.decide_at <= now][:100]

    async def remove(self, join: PendingJoin) -> None:
        if self._joins.get((join.chat_id, join.user_id)) == join:
            del self._joins[join.chat_id, join.user_id]


def moment_text(seconds: float) -> str:
    """Milliseconds, as a text whose order is that of time."""
    return f"{round(seconds * 1000):016}"
