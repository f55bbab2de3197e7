"""A missing package is answered with the command that installs it; a broken one is not called missing."""

from __future__ import annotations

import sys

import pytest

from whileai.core.errors import MissingExtra, RowError, UsageError, WhileError
from whileai.core.extras import need


def test_a_present_module_is_returned():
    assert need("json.decoder", "train").JSONDecoder


def test_a_missing_package_names_the_extra_that_brings_it_and_is_still_an_import_error():
    with pytest.raises(ImportError, match=r"no_such_package_: pip install 'whileai\[train\]'") as caught:
        need("no_such_package_.inner", "train")
    assert isinstance(caught.value, MissingExtra)
    assert caught.value.exit_code == 2


def test_a_package_that_is_there_and_lacks_something_itself_says_what_it_lacks(tmp_path, monkeypatch):
    (tmp_path / "half_there_.py").write_text("import no_such_package_\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ModuleNotFoundError, match="no_such_package_") as caught:
        need("half_there_", "train")
    assert not isinstance(caught.value, WhileError)


def test_a_row_error_says_where_what_and_how_to_mend_it_in_one_line():
    error = RowError("the final answer is empty", mend="drop the row", row_number=7, source="train.jsonl")
    assert str(error) == "train.jsonl: row 7: the final answer is empty; drop the row"
    assert (error.row_number, error.fault, error.mend) == (7, "the final answer is empty", "drop the row")


@pytest.mark.parametrize(("error", "standard"), [(RowError("x"), ValueError), (UsageError("x"), ValueError)])
def test_every_error_is_also_what_a_reader_of_python_expects(error, standard):
    assert isinstance(error, standard)
