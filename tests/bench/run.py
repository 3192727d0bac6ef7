"""Measure every bar of speed against a floor taken in the same run.

    .venv/bin/python tests/bench/run.py [--check] [--runs N] [NAME…]

`--check` makes it exit 1 when a bar is missed.
"""

import argparse
import math
import sys

from tests.bench.measures import (
    Measured,
    first_paint,
    first_request,
    memory_at_the_prompt,
    prompt_takes_a_key,
    reload_of_twenty,
    version_and_help,
)

BARS = {
    "prompt": prompt_takes_a_key,
    "paint": first_paint,
    "version": version_and_help,
    "memory": memory_at_the_prompt,
    "request": first_request,
    "reload": reload_of_twenty,
}


def main() -> int:
    """Print one line a bar; returns the exit status."""
    parser = argparse.ArgumentParser(description="bars of speed against floors of the same run")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BARS)}")
    parser.add_argument("--check", action="store_true", help="exit 1 when a bar is missed")
    parser.add_argument("--runs", type=int, default=9, help="measured runs of each (default 9)")
    options = parser.parse_args()
    unknown = set(options.names) - BARS.keys()
    if unknown:
        parser.error(f"no such bar: {', '.join(sorted(unknown))}")
    missed = 0
    print(f"{'':50} {'value':>10} {'floor':>10} {'ratio':>6} {'limit':>10}")
    for name in options.names or BARS:
        for bar in BARS[name](options.runs):
            missed += not bar.is_kept
            print(
                f"{bar.name:50} {bar.value:7.1f} {bar.unit} {bar.floor:7.1f} {bar.unit} "
                f"{bar.value / bar.floor:6.2f} {_limit(bar)}{'' if bar.is_kept else '  MISSED'}",
                flush=True,
            )
    return 1 if missed and options.check else 0


def _limit(bar: Measured) -> str:
    return f"{'none':>7}" if math.isinf(bar.limit) else f"{bar.limit:7.1f} {bar.unit}"


if __name__ == "__main__":
    sys.exit(main())
