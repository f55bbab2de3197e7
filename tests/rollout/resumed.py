"""Run by test_kill.py in a process of its own: a slow agent, a journal, and a digest of the rows at the end."""

import signal
import sys
import time

import whileai as wai


@wai.tool
def get_order(order_id: str) -> dict:
    """Look up an order by id."""
    return {"order_id": order_id}


class Slow:
    """The stand-in, taking its time."""

    name = "slow"

    def __init__(self, seconds):
        self.inner, self.seconds = wai.seeded_agent([get_order], rate=0.4), seconds

    def respond(self, messages, tools, *, seed, situation=None):
        time.sleep(self.seconds)
        return self.inner.respond(messages, tools, seed=seed, situation=situation)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background inherit an ignored SIGINT
    path, seconds, concurrency = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    data = wai.simulate(
        Slow(seconds), tools=[get_order], budget=120, phrasings=2, seed=3, concurrency=concurrency, out=path
    )
    print(len(data))
