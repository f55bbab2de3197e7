"""How many tasks, from a guess or from a pilot."""

from __future__ import annotations

import numpy as np
import pytest
from builders import rows_of, rows_of_values

from whileai.core.errors import InputError, TasksDiffer
from whileai.stats.power import holdout_size, mde, tasks_needed


def pilot(n=60, k=4, seed=0, uneven=0.0):
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 3, n)
    before = rows_of(rng.binomial(k, p), [k] * n)
    return before, rows_of(
        rng.binomial(k, np.clip(p + 0.1 + uneven * rng.normal(0, 1, n), 0, 1)), [k] * n, model_version="v2"
    )


def test_the_course_case_needs_89_tasks():
    found = holdout_size(0.1)
    assert (found["n_tasks"], found.n_low, found.n_high) == (89, 89, 106)


def test_a_paired_pilot_gives_low_middle_and_high():
    found = holdout_size(0.1, before=pilot()[0], after=pilot()[1])
    assert found.n_low < found.n_tasks < found.n_high
    assert "a paired pilot of 60 tasks" in str(found)


def test_at_the_pilots_own_k_the_variance_is_the_one_it_showed():
    before, after = pilot(uneven=0.3)
    d = [
        sum(r["reward"] for r in after if r["scenario_id"] == f"t{i}") / 4
        - sum(r["reward"] for r in before if r["scenario_id"] == f"t{i}") / 4
        for i in range(60)
    ]
    found = holdout_size(0.1, before=before, after=after, k=4)
    assert found.omega > 0
    assert found.task_std == pytest.approx(np.std(d, ddof=1))


def test_more_tries_a_task_need_fewer_tasks():
    before, after = pilot()
    sizes = [holdout_size(0.1, before=before, after=after, k=k).n_tasks for k in (1, 2, 4, 8)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1.5 * sizes[3]


def test_a_single_try_pilot_is_taken_as_it_is_and_says_so():
    before, after = pilot(k=1)
    found = holdout_size(0.1, before=before, after=after)
    assert "one try a task" in str(found)


def test_a_base_pilot_gives_base_and_icc():
    found = holdout_size(0.1, before=pilot(n=400)[0])
    assert "icc 0.1" in found.source or "icc 0.2" in found.source
    assert found.n_tasks < found.n_concentrated


def test_when_whole_runs_shift_too_much_no_number_of_tasks_suffices():
    found = holdout_size(0.05, extra_std=0.04)
    assert (found.n_tasks, found.mde) == (None, None)
    assert "re-run both arms more" in str(found)
    assert holdout_size(0.05, extra_std=0.04, n_before=20, n_after=20).n_tasks > holdout_size(0.05).n_tasks


def test_what_the_needed_tasks_see_is_the_effect():
    n = tasks_needed(0.08, 0.2)
    assert mde(n, 0.2) == pytest.approx(0.08, rel=0.02)


def test_pilots_that_cannot_be_used_are_refused():
    before, after = pilot()
    with pytest.raises(TasksDiffer):
        holdout_size(0.1, before=before, after=after[4:])
    with pytest.raises(InputError, match="at least 3"):
        holdout_size(0.1, before=before[:8], after=after[:8])
    with pytest.raises(InputError, match="leaves no room"):
        holdout_size(0.1, before=rows_of([4] * 20, [4] * 20))
    with pytest.raises(InputError, match="0/1 rewards"):
        holdout_size(0.1, before=rows_of_values([0.5, 0.2, 0.4]))
