"""From processor time and bytes to money, and the file of prices."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import numbers
from paddock.costs import MEMORY, PROCESSORS, SCANNING, STORAGE, Prices, Usage, cost_of, read_prices
from paddock.errors import FileError
from paddock.paths import PROJECT

DAYS = 365.25 / 12


def a_file(folder: Path, text: str) -> Path:
    """A file of prices."""
    file = folder / "prices.yml"
    file.write_text(text, encoding="utf-8")
    return file


def test_each_part_by_hand() -> None:
    """36 CPU-seconds at 0.10 an hour; 0.2 GB for two months in two copies at 0.05; the same scanned; 2 GB of memory."""
    prices = Prices(
        "EUR",
        cpu_hour=0.10,
        gigabyte_month=0.05,
        memory_gigabyte_month=3.0,
        gigabyte_scanned=0.01,
        documents_per_day=1e6,
        retention_days=2 * DAYS,
        copies=2,
        scans_per_day=0.5,
    )
    cost = cost_of(Usage(36.0, 200.0, 2e9), prices)
    assert cost is not None
    assert cost.parts == pytest.approx(
        {
            PROCESSORS: 0.001,
            STORAGE: 0.2 * 2 * 2 * 0.05,
            SCANNING: 0.2 * 2 * DAYS * 0.5 * 0.01,
            MEMORY: 6.0 / DAYS,
        }
    )
    month = cost.of_month(prices)
    assert month is not None
    # In a month DAYS million documents come; what is kept is that of two months, in two copies.
    kept = DAYS * 2 * 0.2
    assert month.parts == pytest.approx(
        {
            PROCESSORS: DAYS * 0.001,
            STORAGE: kept * 2 * 0.05,
            SCANNING: kept * 0.5 * DAYS * 0.01,
            MEMORY: 6.0,
        }
    )
    assert month.total == pytest.approx(sum(month.parts.values()))


@pytest.mark.parametrize("lacking", ["cpu_seconds", "bytes_each", "memory_bytes"])
def test_what_was_not_measured_has_no_cost(lacking: str) -> None:
    """A part that is priced and unknown makes the whole unknown, never 0; what has no price may be unknown."""
    used = {"cpu_seconds": 1.0, "bytes_each": 1.0, "memory_bytes": 1.0, lacking: None}
    every = Prices("EUR", cpu_hour=1, gigabyte_month=1, memory_gigabyte_month=1, documents_per_day=1, retention_days=1)
    assert cost_of(Usage(**used), every) is None
    assert cost_of(Usage(1.0, None, None), Prices("EUR", cpu_hour=3600.0)).total == 1.0  # type: ignore[union-attr]


@given(
    st.floats(0.001, 1e6),
    st.floats(0.001, 1e6),
    st.floats(1, 1e12),
    st.floats(0.01, 100),
    st.floats(1, 1e10),
    st.floats(0.1, 4000),
)
def test_twice_of_everything_costs_twice(
    seconds: float, each: float, memory: float, price: float, volume: float, days: float
) -> None:
    """And at twice the prices, too; a month's processors and disks grow with the volume, its memory does not."""
    prices = Prices(
        "EUR",
        cpu_hour=price,
        gigabyte_month=price,
        memory_gigabyte_month=price,
        documents_per_day=volume,
        retention_days=days,
    )
    once = cost_of(Usage(seconds, each, memory), prices)
    twice = cost_of(Usage(2 * seconds, 2 * each, 2 * memory), prices)
    assert once is not None
    assert twice is not None
    assert twice.total == pytest.approx(2 * once.total)
    larger = Prices(**{**vars(prices), "documents_per_day": 3 * volume})
    more = cost_of(Usage(seconds, each, memory), larger)
    assert more is not None
    before, after = once.of_month(prices), more.of_month(larger)
    assert before is not None
    assert after is not None
    assert after.parts[PROCESSORS] == pytest.approx(3 * before.parts[PROCESSORS])
    assert after.parts[STORAGE] == pytest.approx(3 * before.parts[STORAGE])
    assert after.parts[MEMORY] == pytest.approx(before.parts[MEMORY])


def test_a_file_is_read(tmp_path: Path) -> None:
    """Numbers may have underscores; what is left out stays unknown, and nothing is assumed."""
    text = "currency: credits\ncpu_hour: 1\ndocuments_per_day: 50_000_000\n"
    prices = read_prices(a_file(tmp_path, text))
    assert prices == Prices("credits", cpu_hour=1.0, documents_per_day=5e7)
    assert prices.assumptions == (
        "Prices in credits: an hour of processor time 1.",
        "Assumed: 50,000,000 documents come in a day.",
    )


def test_the_example_of_the_documentation_is_a_file_of_prices(tmp_path: Path) -> None:
    """docs/costs.md shows a file that is read as it stands, with every key that there is."""
    page = (PROJECT / "docs" / "costs.md").read_text(encoding="utf-8")
    prices = read_prices(a_file(tmp_path, page.split("```yaml\n")[1].split("```")[0]))
    assert None not in vars(prices).values()
    assert prices.copies == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cpu_hour: 1\n", "the key 'currency' is missing"),
        ("currency: EUR\n", "no price above 0"),
        ("currency: EUR\ncpu_hour: 0\n", "no price above 0"),
        ("currency: EUR\ncpu_hour: -1\n", ":2: "),
        ("currency: EUR\ncpu_hour: .inf\n", "no number to reckon with: write another (at 'cpu_hour')"),
        ("currency: EUR\ncpu_hour: .nan\n", "no number to reckon with: write another (at 'cpu_hour')"),
        ("currency: EUR\ncpu_hour: 1" + "0" * 400 + "\n", "cpu_hour is no amount: write a number below 1e+15"),
        ("currency: EUR\ncpu_hour: -.inf\n", "cpu_hour"),
        ("currency: EUR\ngigabyte_month: 1\n", "the key 'gigabyte_month' needs the key 'retention_days' beside it"),
        ("currency: EUR\nmemory_gigabyte_month: 1\n", "needs the key 'documents_per_day' beside it"),
        ("currency: EUR\ngigabyte_scanned: 1\nretention_days: 3\n", "needs the key 'scans_per_day' beside it"),
        ("currency: two words\ncpu_hour: 1\n", ":1: "),
        ("currency: EUR\ncpu_hours: 1\n", "cpu_hours"),
        ("currency: EUR\ncpu_hour: cheap\n", ":2: "),
    ],
)
def test_a_wrong_file_ends_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    """With the file, and the line where there is one."""
    with pytest.raises(FileError) as error:
        read_prices(a_file(tmp_path, text))
    assert words in str(error.value)
    assert "prices.yml" in str(error.value)


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0"), (1234.5, "1,234.50"), (123456.7, "123,457"), (0.5, "0.500"), (0.0123456, "0.0123"), (-3.2, "-3.20"),
     (0.9999, "1.00"), (None, "-"), (float("inf"), "-")],
)  # fmt: skip
def test_amounts(amount: float | None, text: str) -> None:
    """To the hundredth, and small ones with three digits."""
    assert numbers.money(amount) == text
