"""The report page: the verdict first, the evidence below, nothing fetched, nothing run, whatever a model wrote."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from whileai.core.errors import InputError
from whileai.core.seeds import unit
from whileai.report.html import render, write_report
from whileai.report.page import arms_of, make_page

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

HOSTILE = (
    '</pre></details><script>document.title="owned"</script><img src=x onerror=document.title="owned">'
    '<svg onload=document.title="owned"> {{ 7*7 }} \x1b[31mred\x00 \u202egnp.exe\u202c ' + "A" * 1_000_000
)


def row(arm, run, task, index, share, text="ORD-1 is shipped."):
    good = unit(arm, run, task, index) < share
    call = {"id": "call_1", "name": "get_order", "arguments": {"order_id": f"ORD-{task}"}}
    answered = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "name": "get_order", "content": '{"status": "ok"}'},
        {"role": "assistant", "content": text},
    ]
    messages = [{"role": "user", "content": f"Where is ORD-{task}?"}, *(answered if good else answered[2:])]
    return {
        "scenario_id": f"task-{task}",
        "messages": messages,
        "reward": float(good),
        "rollout_index": index,
        "model_version": arm,
        "run": run,
    }


def rows(before=0.2, after=0.8, tasks=20, text="ORD-1 is shipped.", runs=3):
    passes = [("base", n, before) for n in range(1, runs + 1)] + [("trained", 1, after)]
    return [
        row(arm, run, task, i, share, text) for arm, run, share in passes for task in range(tasks) for i in range(4)
    ]


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def elements(text):
    parser = Elements()
    parser.feed(text)
    return parser.found


@pytest.fixture(scope="module")
def page():
    return render(make_page(arms_of(rows()), "a run"))


def test_the_verdict_and_its_numbers_come_before_anything_else(page):
    body = page[page.index("<body>") :]
    assert re.search(r'class="badge good">PASS</span>', body[:400])
    assert re.search(
        r"<h1>The trained model is better: it succeeds on \d+% of tries before and \d+% after, over 20", body
    )
    assert body.index("<h1>") < body.index("The comparison") < body.index("Conversations")


@pytest.mark.parametrize(
    ("before", "after", "tasks", "tone", "says"),
    [(0.8, 0.2, 20, "bad", "is worse"), (0.5, 0.5, 20, "even", "did not move it"), (0.2, 0.8, 4, "even", "no verdict")],
)
def test_the_other_verdicts_have_their_own_sentence_and_tone(before, after, tasks, tone, says):
    found = make_page(arms_of(rows(before, after, tasks)), "a run")
    assert found.tone == tone
    assert says in found.sentence


def test_nothing_is_fetched_and_nothing_runs(page):
    tags = {tag for tag, _ in elements(page)}
    assert not tags & {"script", "link", "iframe", "object", "embed", "img", "form", "base"}
    for tag, attributes in elements(page):
        assert not [name for name in attributes if name.startswith("on")], tag
        links = [attributes.get(name) or "#" for name in ("href", "src", "xlink:href")]
        assert all(link.startswith("#") for link in links), (tag, links)
    assert "default-src 'none'" in page
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page


def test_every_chart_is_described_in_words(page):
    charts = [attributes for tag, attributes in elements(page) if tag == "svg"]
    assert len(charts) >= 4
    assert all(attributes.get("aria-label") for attributes in charts)


def test_a_hostile_row_stays_text_and_a_megabyte_stays_short():
    text = render(make_page(arms_of(rows(text=HOSTILE)), HOSTILE[:100]))
    assert "&lt;script&gt;" in text
    assert not {"script", "img"} & {tag for tag, _ in elements(text)}
    assert "{{ 7*7 }}" in text
    assert not set(text) & set("\x00\x1b\u202e")
    assert len(text) < 1_000_000


def test_a_run_folder_gives_its_training_curve_settings_and_digests(tmp_path):
    (tmp_path / "holdout_rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows()))
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps({"step": i, "loss": 3 / i}) + "\n" for i in range(1, 6)))
    (tmp_path / "config.json").write_text(json.dumps({"inputs": {"train": "d1ge57"}, "versions": {"torch": "2.13.0"}}))
    text = write_report(tmp_path, tmp_path / "report.html").read_text()
    assert "Training loss from 3.000 to 0.600" in text
    assert re.search(r'<th scope="row">inputs.train</th><td><code>d1ge57', text)
    assert "versions.torch" in text


def test_one_base_pass_says_that_the_noise_was_not_measured():
    found = make_page(arms_of(rows(runs=1)), "a run")
    assert "was not measured" in found.caution
    assert found.plots["passes"] == ""


@pytest.mark.parametrize("arm", ["base", "trained"])
def test_a_missing_arm_is_refused_by_name(arm):
    kept = [r for r in rows() if r["model_version"] != arm]
    with pytest.raises(InputError, match=f'"{arm}"'):
        arms_of(kept)


def test_the_same_rows_give_the_same_page(page):
    assert render(make_page(arms_of(rows()), "a run")) == page


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine, so the page cannot be opened in a browser")
def test_a_browser_shows_the_page_and_a_hostile_row_does_nothing(tmp_path):
    path = write_report(rows(text=HOSTILE), tmp_path / "report.html", title="a run")
    flags = [*FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1000,2400"]
    shot = tmp_path / "page.png"
    look = [CHROMIUM, *flags, f"--screenshot={shot}", "--virtual-time-budget=2000", path.as_uri()]
    subprocess.run(look, check=True, capture_output=True, timeout=90)
    assert shot.stat().st_size > 50_000
    dump = subprocess.run([CHROMIUM, *flags, "--dump-dom", path.as_uri()], check=True, capture_output=True, timeout=90)
    dom = dump.stdout.decode("utf-8")
    assert "<title>a run</title>" in dom
    assert "owned" not in re.sub(r"<pre.*?</pre>|<summary>.*?</summary>|<td.*?</td>", "", dom, flags=re.DOTALL)
