"""Due dates of monthly and yearly subscriptions."""

from datetime import date


def add_months(start: date, months: int) -> date:
    """The same day, so many months later."""
    index = start.year * 12 + start.month - 1 + months
    return start.replace(year=index // 12, month=index % 12 + 1)


def due_dates(signed_up: date, count: int, every: int = 1) -> list[date]:
    """The first `count` due dates, `every` so many months, counted from the day of signing up."""
    return [add_months(signed_up, every * number) for number in range(1, count + 1)]


def next_due(signed_up: date, today: date, every: int = 1) -> date:
    """The first due date that is not before `today`."""
    number = 1
    while add_months(signed_up, every * number) < today:
        number += 1
    return add_months(signed_up, every * number)
