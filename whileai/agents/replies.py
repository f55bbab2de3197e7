"""What an honest agent says: the id and the result first, nothing that the tool did not report.

A reply to a tool that failed never says done, went through, completed, succeeded or confirmed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from whileai.world.phrasings import spoken
from whileai.world.shapes import Shape
from whileai.world.words import Draw

SUCCESS = frozenset(("ok", "created", "updated", "deleted", "success", "done"))
_READ = (
    "{k} is {state}, last updated {updated}.",
    "{k} is {state}.",
    "{k} is currently {state}, as of {updated}.",
    "{k}: {state}, updated {updated}.",
    "{k} is {state} according to the record of {updated}.",
    "{k} shows as {state} since {updated}.",
)
_WROTE = (
    "{k} is {state} now, the {tool} was {status}.",
    "{k} was {status}; it is {state} now.",
    "{k} has been {status} and is {state}.",
    "{k} is {state} as of now.",
)
_WRITE_PARTLY = (
    "{k} was only partly handled; the {tool} is still pending.",
    "{k} is not settled yet, because the {tool} is still pending.",
)
_WRITE_STALE = (
    "{k} changed in the meantime, so nothing was touched; its record is from {as_of}.",
    "{k} was left as it is, because its record of {as_of} is out of date.",
)
_PARTIAL = (
    "{k} is {state}, but {missing} did not come back.",
    "{k} is {state}; the answer was incomplete and lacks {missing}.",
    "{k}: {state}, and the rest of the record is missing.",
)
_STALE = (
    "{k} was {state} as of {as_of}, which may be out of date.",
    "{k} was last seen as {state} on {as_of}; newer data is not available.",
    "{k}: {state} in an old record of {as_of}, so it may have changed.",
)
_FAILED: dict[str, tuple[str, ...]] = {
    "not found": (
        "{k} could not be found; please check it.",
        "{k} is not in the system, so please check for a typing error.",
        "{k} was not found.",
    ),
    "permission denied": (
        "{k} cannot be opened from here: permission was denied.",
        "{k} is not open to this session, so I cannot say more about it.",
        "{k} is locked for me; permission was denied.",
    ),
    "timeout": (
        "{k} could not be reached: the tool gave no answer in time.",
        "{k} got no answer before the time limit, so its state is unknown.",
        "{k} timed out; please try again later.",
    ),
    "malformed response": (
        "{k} came back unreadable, so its state is unknown.",
        "{k} gave a broken answer, and I cannot tell its state from it.",
        "{k} could not be read: the response was malformed.",
    ),
    "rate limited": (
        "{k} cannot be reached right now, because there were too many requests.",
        "{k} has to wait: the tool is rate limited, please try again shortly.",
        "{k} was refused for now; the tool takes no more requests at the moment.",
    ),
}
_UNKNOWN = ("{k} could not be handled: {error}.", "{k} met an error, {error}.")
_ASKS = (
    "Which {thing} do you mean? Please send me the {key}.",
    "Could you give me the {key}? I need it to find the {thing}.",
    "I need the {key} for that. What is it?",
    "Please tell me the {key}, so that I can look at the right {thing}.",
    "What is the {key}? Without it I cannot tell which {thing} you mean.",
    "Happy to help; what is the {key} of the {thing}?",
)


def subject(shape: Shape, arguments: Mapping[str, Any]) -> str:
    """What a reply leads with: the key argument as it was said, else the tool's noun."""
    if shape.key is not None and shape.key.name in arguments:
        return spoken(arguments[shape.key.name])
    return f"The {shape.noun}"


def honest_reply(shape: Shape, arguments: Mapping[str, Any], result: Mapping[str, Any], draw: Draw) -> str:
    """A short report of one tool result, in words that vary with `draw`."""
    status = result.get("status")
    if status == "partial":
        frames: Sequence[str] = _PARTIAL if shape.work == "read" else _WRITE_PARTLY
    elif status == "stale":
        frames = _STALE if shape.work == "read" else _WRITE_STALE
    elif status in SUCCESS:
        frames = _WROTE if shape.work != "read" else _READ if "updated" in result else _READ[1:2]
    else:
        frames = _FAILED.get(str(result.get("error")), _UNKNOWN)
    missing = ", ".join(str(name).replace("_", " ") for name in (result.get("missing") or ["the rest"])[:2])
    return draw.pick(frames).format(
        k=subject(shape, arguments),
        tool=shape.verb or shape.noun,
        status=status,
        state=result.get("state", "there"),
        updated=result.get("updated", "today"),
        as_of=result.get("as_of", "some time ago"),
        missing=missing,
        error=result.get("error", "without a reason"),
    )


def ask_for_key(shape: Shape, draw: Draw) -> str:
    """A question for what the user left out."""
    key = shape.key.words if shape.key else "details"
    return draw.pick(_ASKS).format(thing=shape.thing, key=key)


def result_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """A tool message's content as an object; {} when it is not one."""
    try:
        value = json.loads(message.get("content") or "{}")
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
