"""The public names and their parameters, written down by hand: changing one is a decision, not an accident."""

from __future__ import annotations

import inspect

import pytest

import whileai as wai
from whileai.core import errors

FUNCTIONS = {
    "compare": (
        "before after * run_std run_std_runs floor target must_not_regress by cluster allow_partial threshold"
        " sesoi effect alpha"
    ),
    "decontaminate": "rows against",
    "eval_variance": "*runs metric",
    "evaluate": "model holdout * adapter tries sampling seed run model_version judge system_prompt tools",
    "export": "rows path format * system_prompt tools drop_broken",
    "format_delta_report": "result",
    "grade": "rows judge",
    "holdout_size": "effect * base k power alpha icc before after task_std extra_std n_before n_after",
    "judge_trust": "rows judge labels * rejudge min_kappa threshold alpha",
    "load": "path",
    "lock": "rows path",
    "monitor": "before after * order alpha",
    "pass_at": "rows k cluster threshold alpha",
    "read": "path * scorer filter",
    "replicate": "before after * names started sigma0 strict alpha",
    "seeded_agent": "tools rate",
    "select": "rows mode **options",
    "simulate": (
        "agent * tools system_prompt simulator mode repeats repeat_policy phrasings budget situations concurrency"
        " seed tasks runs out advanced"
    ),
    "split": "rows holdout_tasks * share seed stratify",
    "tool": "fn",
    "train": "train holdout * config out judge sampling base_passes tries say",
}
DATA = {
    "pass_at": None,
    "grade": "judge",
    "failures": "threshold",
    "select": "mode **options",
    "split": "holdout_tasks **options",
    "decontaminate": "against",
    "export": "path *args **options",
    "save": "path",
    "load": "path",
}
MODULES = {"errors", "simulations"}
COURSE = ["compare", "eval_variance", "format_delta_report", "holdout_size", "simulate"]


def parameters(found) -> str:
    """Names in order; a star stands before the first that must be named."""
    names, starred = [], False
    for p in inspect.signature(found).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            names.append("*")
            starred = True
        starred = starred or p.kind is p.VAR_POSITIONAL
        names.append({p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name)
    return " ".join(name for name in names if name != "self")


def test_the_public_names_are_these():
    assert set(wai.__all__) == {*FUNCTIONS, *MODULES, "Data", "SFT", "__version__"}
    assert set(dir(wai)) == set(wai.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_takes_these_parameters(name):
    assert parameters(getattr(wai, name)) == FUNCTIONS[name]


@pytest.mark.parametrize("name", DATA)
def test_a_method_of_data_takes_these_parameters(name):
    found = inspect.getattr_static(wai.Data, name)
    assert isinstance(found, property) if DATA[name] is None else parameters(getattr(wai.Data, name)) == DATA[name]


def test_data_has_no_other_public_name():
    own = {name for name in vars(wai.Data) if not name.startswith("_")}
    assert own == set(DATA)


@pytest.mark.parametrize("name", COURSE)
def test_the_course_s_names_are_found_where_it_imports_them_from(name):
    assert getattr(wai.simulations, name) is getattr(wai, name)


@pytest.mark.parametrize("name", [*FUNCTIONS, "Data", "SFT"])
def test_every_public_name_says_what_it_is_for(name):
    assert len(inspect.getdoc(getattr(wai, name)) or "") > 40


def test_an_unknown_name_says_which_there_are():
    with pytest.raises(AttributeError, match=r"no attribute 'selekt'; it has .*select"):
        wai.selekt


def test_every_error_is_a_while_error_and_has_an_exit_code_the_command_line_documents():
    found = [e for e in vars(errors).values() if inspect.isclass(e) and issubclass(e, Exception)]
    assert len(found) >= 8
    assert all(issubclass(e, errors.WhileError) for e in found)
    assert {e.exit_code for e in found} <= {1, 2, 4, 5}
    assert all(e.__name__ in (errors.__doc__ or "") for e in found)
