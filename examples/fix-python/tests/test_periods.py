import unittest
from datetime import date

from billing.periods import add_months, due_dates, next_due


class AddMonths(unittest.TestCase):
    def test_the_day_stays(self):
        self.assertEqual(add_months(date(2026, 3, 14), 1), date(2026, 4, 14))

    def test_the_year_turns(self):
        self.assertEqual(add_months(date(2026, 11, 5), 3), date(2027, 2, 5))

    def test_a_short_month_takes_its_last_day(self):
        self.assertEqual(add_months(date(2026, 1, 31), 1), date(2026, 2, 28))

    def test_months_with_thirty_days(self):
        self.assertEqual(add_months(date(2026, 5, 31), 1), date(2026, 6, 30))

    def test_leap_years(self):
        self.assertEqual(add_months(date(2028, 1, 31), 1), date(2028, 2, 29))


class DueDates(unittest.TestCase):
    def test_they_are_counted_from_the_day_of_signing_up(self):
        self.assertEqual(
            due_dates(date(2026, 12, 31), 4),
            [date(2027, 1, 31), date(2027, 2, 28), date(2027, 3, 31), date(2027, 4, 30)],
        )

    def test_the_next_one_is_not_before_today(self):
        self.assertEqual(next_due(date(2026, 1, 15), date(2026, 6, 15)), date(2026, 6, 15))
        self.assertEqual(next_due(date(2026, 1, 15), date(2026, 6, 16)), date(2026, 7, 15))


if __name__ == "__main__":
    unittest.main()
