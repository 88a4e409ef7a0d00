from __future__ import annotations


class AdsError(Exception):
    """The ad service refused, is busy, cannot be reached, or answered something unexpected."""

    def __init__(
        self, message: str, *, code: str, status: int | None = None, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """The service's `UPPER_SNAKE` code, or `UNREACHABLE`, or `UNEXPECTED_ANSWER`, or `NOT_A_PERSON` for a user id that
        stands for many people, which is not sent."""
        self.status = status
        """HTTP status; None without an answer."""
        self.retry_after_seconds = retry_after_seconds
        """When to try again; None where the service did not say."""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
