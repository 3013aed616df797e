"""The HTML report in a real browser: on a desktop and on a phone, nothing sticks out of the page."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from paddock.reports.comparison import compare, render_comparison
from paddock.reports.write import write_report
from tests.machine import PATIENCE
from tests.reports.results import ALL, codecs, decided, grid, undecided

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")

WIDTHS = (1280, 390)  # of a desktop and of a phone
# The page under test stands in frames, because a window cannot be as narrow as a phone. The script opens all details
# and writes into the outer page what it found in each.
OUTER = """<!DOCTYPE html><html><body style="margin:0">{frames}<pre id="found"></pre><script>
document.querySelectorAll("iframe").forEach(frame => frame.onload = function () {{
  const inner = this.contentDocument, width = this.contentWindow.innerWidth;
  inner.querySelectorAll("details").forEach(one => one.open = true);
  const scrolls = one => one.closest(".scroll") !== null;
  const out = [...inner.body.querySelectorAll("*")].filter(
    one => !scrolls(one) && one.getBoundingClientRect().right > width + 0.5).map(one => one.tagName);
  const shown = [...inner.querySelectorAll("div.plot")].filter(one => one.getBoundingClientRect().width > 0);
  const small = shown.flatMap(one => [...one.querySelectorAll("text")]).filter(
    one => one.getBoundingClientRect().height > 0 && one.getBoundingClientRect().height < 10).length;
  const names = [...inner.querySelectorAll(".row:not(.ticks) .who")].map(one => {{
    const range = inner.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect();
  }});
  const close = names.slice(1).filter((one, at) => one.top - names[at].bottom < 4).length;
  const cut = [...inner.querySelectorAll(".map th")].filter(
    one => one.scrollWidth > one.clientWidth || one.textContent.includes("…")).length;
  const behind = [...inner.querySelectorAll(".scroll")].filter(one => {{
    const cell = one.querySelector("td");
    return cell && cell.getBoundingClientRect().right > one.getBoundingClientRect().right + 0.5;
  }}).length;
  document.getElementById("found").textContent += JSON.stringify(
    [width, inner.documentElement.scrollWidth, out.join(" "), shown.length, small, close + cut + behind]) + "\\n";
}});
</script></body></html>"""
FRAME = '<iframe srcdoc="{page}" style="border:0;width:{width}px;height:900px"></iframe>'


def measured(page: str, folder: Path) -> dict[int, tuple[int, str, int, int, int]]:
    """For each of both widths: the page's own, what sticks out, plots shown, small texts, hidden figures and names."""
    # The frames' own script has to look into the page, whose policy forbids only its own scripts.
    frames = "".join(FRAME.format(page=html.escape(page), width=width) for width in WIDTHS)
    (folder / "frames.html").write_text(OUTER.format(frames=frames), encoding="utf-8")
    options = [
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
        *("--disable-background-networking", "--disable-component-update", "--virtual-time-budget=4000"),
        *(f"--user-data-dir={folder / 'profile'}", "--window-size=1300,1000", "--dump-dom"),
    ]
    done = subprocess.run(
        [str(CHROMIUM), *options, (folder / "frames.html").as_uri()], capture_output=True, text=True, timeout=PATIENCE
    )
    found = re.findall(
        r'\[(\d+),(\d+),"([^"]*)",(\d+),(\d+),(\d+)\]$', done.stdout.partition('id="found">')[2], re.MULTILINE
    )
    assert len(found) == len(WIDTHS), done.stderr[-2000:]
    return {int(width): (int(needed), out, *map(int, counts)) for width, needed, out, *counts in found}


@pytest.mark.parametrize("name", [*ALL, "codecs", "wide grid"])
def test_nothing_sticks_out(name: str, tmp_path: Path) -> None:
    """Only tables and plots scroll, inside their own boxes; each plot is shown once, with text that can be read."""
    makers = {
        **ALL,
        "codecs": codecs,
        "wide grid": lambda: grid((16, 32, 64, 125, 250, 500, 1000, 1250), range(1, 17), 2),
    }
    one = makers[name]()
    page = write_report(one, tmp_path / "report")["html"].read_text(encoding="utf-8")
    seen = measured(page, tmp_path)
    assert set(seen) == set(WIDTHS)
    for width, (needed, out, plots, small, unreadable) in seen.items():
        assert needed <= width
        assert out == ""
        assert plots == page.count("<figure")
        assert (small, unreadable) == (0, 0)


def test_comparisons_fit_too(tmp_path: Path) -> None:
    """A comparison's tables scroll inside the page."""
    seen = measured(render_comparison(compare([decided(), undecided()]), "html"), tmp_path)
    assert {width: (needed <= width, out) for width, (needed, out, *_) in seen.items()} == dict.fromkeys(
        WIDTHS, (True, "")
    )
