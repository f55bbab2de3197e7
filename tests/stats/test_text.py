"""The reports keep the seeds' lines, with the evidence on further lines after them."""

from __future__ import annotations

import pytest
from builders import GOLDEN, rows_of, rows_of_means

from whileai.stats.comparison import compare
from whileai.stats.noise import eval_variance
from whileai.stats.passat import pass_at
from whileai.stats.power import holdout_size
from whileai.stats.text import format_delta_report

BEFORE = GOLDEN["pass_at"]["lesson7_before"]["c"]
AFTER = GOLDEN["pass_at"]["lesson7_after"]["c"]


def lesson7():
    return rows_of(BEFORE, [4] * 16, model_version="v1"), rows_of(AFTER, [4] * 16, model_version="v2")


def test_the_pass_at_line_is_the_seeds_line_with_honest_intervals():
    first, method = str(pass_at(lesson7()[0])).split("\n")
    assert first == (
        "pass@1 0.56 [0.42..0.69] | pass^4 (pass_pow_k) 0.06 [0.01..0.31] | pass@4 0.94 [0.69..0.99] | headroom 0.38"
        " (16 groups, k=4)"
    )
    assert method == "  95% score intervals over 16 tasks, 64 scored rows"


def test_uneven_groups_are_said_in_the_seeds_words():
    line = str(pass_at(rows_of([2, 5, 16, 0], [4, 8, 16, 4]))).split("\n")[0]
    assert line.endswith("(4 groups, k=4; groups are uneven (4 to 16 repeats); k is the smallest)")


def test_the_delta_report_is_the_seeds_report():
    lines = format_delta_report(compare(*lesson7())).split("\n")
    assert lines[0] == "PASS"
    assert lines[1] == "answered: 100.0% before, 100.0% after"
    assert lines[2] == "  pass_at_1                    0.562 -> 0.906  +0.344 [+0.207..+0.480]  up  (16 paired)"
    assert all(line.startswith("    ") for line in lines[3:])
    assert "moved, unreplicated" in lines[3]


def test_the_noise_line_is_the_seeds_line():
    lines = str(compare(*lesson7(), run_std=0.002, run_std_runs=3)).split("\n")
    assert lines[1] == (
        "eval noise: run_std 0.002, a delta under 0.012 is noise"
        " (t(df=2)=4.30 x run_std x sqrt(1/1 + 1/1); run_std given from 3 re-runs)"
    )
    assert lines[3].endswith("  up  (16 paired)  noise<0.012")


def test_a_floor_above_the_delta_reads_no_difference_in_both_places():
    lines = str(compare(*lesson7(), run_std=0.1, run_std_runs=3)).split("\n")
    assert lines[0] == "NO DIFFERENCE"
    assert "  no difference  (16 paired)  noise<0.608" in lines[3]
    assert "inconclusive, within eval noise" in lines[4]


def test_no_difference_carries_what_it_does_not_rule_out():
    d = [0.25, 0, -0.25, 0.25, 0, 0.25, -0.25, 0, 0.25, 0] * 2
    before, after = (rows_of_means([0.5 + s * x / 2 for x in d], 8, model_version=s) for s in (-1, 1))
    lines = str(compare(before, after)).split("\n")
    assert lines[0] == "NO DIFFERENCE"
    assert "  no difference  (20 paired)" in lines[2]
    assert lines[3] == (
        "    inconclusive: a gain up to +0.14 is not ruled out; this set sees +0.13 at 80% power,"
        " 29 tasks would see +0.10"
    )


def test_every_result_is_json_ready_and_escapes_for_a_notebook():
    runs = [rows_of_means(y, run=i) for i, y in enumerate(GOLDEN["eval_variance"]["Y"])]
    results = [compare(*lesson7()), pass_at(lesson7()[0]), eval_variance(*runs), holdout_size(0.1)]
    import json

    for result in results:
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert "&lt;" in result._repr_html_() or "<pre>" in result._repr_html_()


@pytest.mark.parametrize(
    "line", ["89 tasks show +0.1 at 80% power, alpha 0.05, 4 tries a task (91 by the noncentral t)"]
)
def test_the_size_report(line):
    assert str(holdout_size(0.1)).split("\n")[0] == line
