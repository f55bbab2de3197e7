"""No key reaches a row, a log or a terminal."""

from __future__ import annotations

import pytest

from whileai.core.redact import redact


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + "proj-abcdefghijkl0123456789",
        "hf" + "_abcdefghijklmnopqrst",
        "ghp" + "_0123456789abcdefghij",
        "AKIA" + "ABCDEFGHIJKLMNOP",
    ],
)
def test_a_provider_s_key_is_hidden_wherever_it_stands(secret):
    for text in (f"401: bad key {secret}.", f'{{"key":"{secret}"}}', f"x={secret}&y=1"):
        assert secret not in redact(text)
        assert "[redacted]" in redact(text)


def test_a_bearer_token_and_a_password_in_an_address_are_hidden():
    said = redact("Authorization: Bearer abc.def-12345678 to https://someone:hunter22@host:80/v1")
    assert "12345678" not in said
    assert "hunter22" not in said
    assert "@host:80/v1" in said


def test_the_value_of_a_variable_that_is_named_like_a_key_is_hidden(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "a plain phrase")
    monkeypatch.setenv("SHORT_KEY", "abc")
    assert redact("it said: a plain phrase, abc") == "it said: [redacted], abc"


def test_other_text_stays_as_it_is():
    text = "ORD-9237 is shipped; the task sk-ipped nothing, ask risk-free questions"
    assert redact(text) == text
