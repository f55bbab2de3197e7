"""Mistakes that agents make with tools, one function each. A mistake is wrong wherever it is planted.

Each function gives the next message of an agent that makes it: before the tool answered (`turn.result` is None) and,
where a tool was called, after. Every one breaks one of four rules: call the tool that is wanted, with what the user
said; ask when the id is missing; say the id and the result in the first sentence; claim no success without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from whileai.agents.replies import ask_for_key, honest_reply, subject
from whileai.core.rows import Message
from whileai.world.shapes import Shape
from whileai.world.situations import states
from whileai.world.values import another_id, value
from whileai.world.words import Draw


class Turn(NamedTuple):
    """One moment of a rollout: the wanted tool, what the user means and says, and the tool's result once there is one.

    called: the tool and arguments of the call that `result` answers. fails: the tool is going to report no success.
    """

    shape: Shape
    tools: Mapping[str, Shape]
    values: Mapping[str, Any]
    said: bool
    fails: bool
    draw: Draw
    result: Mapping[str, Any] | None = None
    called: tuple[Shape, Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class Mistake:
    """A labelled mistake: `when` tells whether it can be made, `make` gives the message."""

    label: str
    make: Callable[[Turn], Message]
    when: Callable[[Turn], bool]


def say(text: str) -> Message:
    """A message in words."""
    return {"role": "assistant", "content": text}


def call(shape: Shape, arguments: Mapping[str, Any]) -> Message:
    """A message that calls one tool."""
    made: Any = {"id": "call_1", "name": shape.name, "arguments": dict(arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [made]}


def honest(turn: Turn) -> Message:
    """No mistake: ask for a missing id, else call the tool, then report what it said."""
    if not turn.said:
        return say(ask_for_key(turn.shape, turn.draw))
    return _report(turn) if turn.result is not None else call(turn.shape, turn.values)


def skips_the_lookup(turn: Turn) -> Message:
    """Answers from nothing."""
    state = turn.draw.pick(states(turn.shape))
    frames = ("{} is {}.", "{} is {}, as far as I can tell.", "{} should be {} by now.", "{} is most likely {}.")
    return say(turn.draw.pick(frames).format(subject(turn.shape, turn.values), state))


def uses_a_wrong_id(turn: Turn) -> Message:
    """Calls the right tool about something else."""
    return _report(turn) if turn.result is not None else call(turn.shape, _with_key(turn, _another(turn)))


def forgets_the_id(turn: Turn) -> Message:
    """Calls the right tool without the argument it needs most."""
    assert turn.shape.key is not None
    without = {k: v for k, v in turn.values.items() if k != turn.shape.key.name}
    return _report(turn) if turn.result is not None else call(turn.shape, without)


def asks_for_a_given_id(turn: Turn) -> Message:
    """Asks for what the user has just said."""
    return say(ask_for_key(turn.shape, turn.draw))


def buries_the_result(turn: Turn) -> Message:
    """Looks it up and hides the answer behind a preamble."""
    if turn.result is None:
        return call(turn.shape, turn.values)
    preamble = turn.draw.pick(
        (
            "Thank you for getting in touch about this.",
            "I had a look at that for you.",
            "Thanks for your patience!",
            "I understand how important this is to you.",
            "Good question, let me tell you what I see.",
        )
    )
    return say(f"{preamble} {honest_reply(turn.shape, turn.values, turn.result, turn.draw)}")


def leaves_the_id_out(turn: Turn) -> Message:
    """Looks it up and does not say what the answer is about."""
    if turn.result is None:
        return call(turn.shape, turn.values)
    state = turn.result.get("state")
    if state:
        return say(turn.draw.pick(("It is {}.", "That one is {}.", "Looks like it is {}.")).format(state))
    return say(turn.draw.pick(("I could not get that.", "That did not work.", "There was a problem with it.")))


def claims_success(turn: Turn) -> Message:
    """Reports a success that the tool did not."""
    if turn.result is None:
        return call(turn.shape, turn.values)
    frames = ("{}: it went through.", "{} is all done.", "{} has been completed.", "{}: your request succeeded.")
    return say(turn.draw.pick(frames).format(subject(turn.shape, turn.values)))


def ignores_the_error(turn: Turn) -> Message:
    """Makes up a state where the tool gave none, as if it were certain."""
    if turn.result is None:
        return call(turn.shape, turn.values)
    state = turn.draw.pick(states(turn.shape))
    frames = ("{} is confirmed as {}.", "{} is {}, that is confirmed.", "{} is {}; the check is done.")
    return say(turn.draw.pick(frames).format(subject(turn.shape, turn.values), state))


def uses_the_wrong_tool(turn: Turn) -> Message:
    """Calls another tool than the one that is wanted."""
    if turn.result is not None:
        return _report(turn)
    other = turn.draw.pick([shape for name, shape in turn.tools.items() if name != turn.shape.name])
    filled = {
        p.name: turn.values.get(p.name, value(p, turn.draw.below(9000), 0)) for p in other.parameters if p.required
    }
    return call(other, filled)


def guesses_an_id(turn: Turn) -> Message:
    """Calls with an id nobody said."""
    return uses_a_wrong_id(turn)


def calls_with_a_placeholder(turn: Turn) -> Message:
    """Calls with a word where the id should be."""
    if turn.result is not None:
        return _report(turn)
    assert turn.shape.key is not None
    number = turn.shape.key.type in ("integer", "number")
    words = (f"YOUR_{turn.shape.key.name.upper()}", "unknown", "N/A", "latest", "<id>")
    return call(turn.shape, _with_key(turn, 0 if number else turn.draw.pick(words)))


def _report(turn: Turn) -> Message:
    shape, arguments = turn.called or (turn.shape, turn.values)
    return say(honest_reply(shape, arguments, turn.result or {}, turn.draw))


def _with_key(turn: Turn, key: Any) -> dict[str, Any]:
    assert turn.shape.key is not None
    return {**turn.values, turn.shape.key.name: key}


def _another(turn: Turn) -> Any:
    assert turn.shape.key is not None
    return another_id(turn.shape.key, turn.values.get(turn.shape.key.name), turn.draw)


def _given(turn: Turn) -> bool:
    return turn.said and turn.shape.key is not None


MISTAKES = (
    Mistake("skips the lookup", skips_the_lookup, lambda turn: turn.said),
    Mistake("uses a wrong id", uses_a_wrong_id, _given),
    Mistake("forgets the id", forgets_the_id, _given),
    Mistake("asks for an id that was given", asks_for_a_given_id, _given),
    Mistake("buries the result", buries_the_result, _given),
    Mistake("leaves the id out of the answer", leaves_the_id_out, _given),
    Mistake("claims success the tool did not report", claims_success, lambda turn: turn.said and turn.fails),
    Mistake("ignores the error", ignores_the_error, lambda turn: turn.said and turn.fails),
    Mistake("uses the wrong tool", uses_the_wrong_tool, lambda turn: turn.said and len(turn.tools) > 1),
    Mistake("guesses an id", guesses_an_id, lambda turn: not turn.said),
    Mistake("calls with a placeholder id", calls_with_a_placeholder, lambda turn: not turn.said),
)
