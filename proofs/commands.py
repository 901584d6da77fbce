"""The command `python -m proofs.chain`: show and accept changes, run the cited tests, and test the stamps themselves."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from dpaudit.verifier.chain import rests_on
from dpaudit.verifier.stamps.canonical import digest
from proofs import chain
from proofs.mutating import campaign
from proofs.results import PASSED, cited_tests, read_record, test_check, write_record
from proofs.reviewed import COMMAND, Change, changes, open_edges, reach_of, write_reviewed
from proofs.running import find_uncovered, idle_binds, run_and_record, run_tests

_CODE_LENGTH: Final = 12
_MUTATIONS: Final = 300


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = _parser().parse_args(arguments)
    if options.run is not None:
        return _run(options.run)
    if options.cross_check is not None:
        return _cross_check(options.cross_check)
    if options.mutate is not None:
        return _mutate(options.mutate, options.seed)
    return _accept(options.accept) if options.accept else _review()


def _parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Without options: show what changed since it was reviewed.")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--accept", metavar="CODE", help="record the source as reviewed; CODE is what the review printed")
    one.add_argument(
        "--run", nargs="*", metavar="NODE", help="run tests and record them: of nodes, single tests, or all that are stale"
    )
    one.add_argument("--cross-check", nargs="*", metavar="NODE", help="run tests and compare what they execute with the stamps")
    one.add_argument(
        "--mutate", nargs="?", type=int, const=_MUTATIONS, metavar="N", help="change source in N places, see what falls"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the places that are changed")
    return parser


def review_code(found: Iterable[Change]) -> str:
    """The code that accepts exactly these changes."""
    reach = reach_of(chain.ROOT)
    now = reach.digests(one.place for one in found)
    return digest(*(f"{one.place} {one.kind} {now.get(one.place)}" for one in found))[:_CODE_LENGTH]


def _review() -> int:
    """Show what changed, and the command that accepts it."""
    found = changes(chain.ROOT, chain.NODES)
    claims = sorted({claim for one in found for claim in one.claims})
    for one in found:
        _say(f"{one.kind:<8}{one.place}  (claims: {_join_names(one.claims, len(chain.CLAIMS))})")
    for place, words in open_edges(chain.ROOT)(chain.NODES).items():
        _say(f"open    {place}: {words}")
    stale = _stale_tests()
    if found:
        _say(f"{len(found)} definitions are not what was reviewed; {len(claims)} of {len(chain.CLAIMS)} claims rest on them.")
        _say("Read each of them and see that the statements of its nodes still hold (docs/proofs.md). Then accept them all:")
        _say(f"  {COMMAND} --accept {review_code(found)}")
    else:
        _say("The source is what was reviewed.")
    if stale:
        _say(f"{len(stale)} of {len(cited_tests(chain.NODES))} cited tests have no result for the source as it is. Run them:")
        _say(f"  {COMMAND} --run")
    if not found and not stale:
        # Both records keep a digest of all files, by which an audit sees at once that nothing has changed.
        write_reviewed(chain.ROOT, chain.NODES)
        write_record(chain.ROOT, {}, {}, chain.NODES)
    return 1 if found or stale else 0


def _accept(code: str) -> int:
    """Record the source as reviewed if the code is that of what changed."""
    found = changes(chain.ROOT, chain.NODES)
    if found and code != review_code(found):
        _say(f"{code} is not the code of the changes as they are now. Run `{COMMAND}` and review what it shows.")
        return 2
    write_reviewed(chain.ROOT, chain.NODES)
    _say(f"{len(found)} definitions accepted.")
    return 0


def _run(names: Sequence[str]) -> int:
    """Run tests, record them, and name those that are no evidence now."""
    tests = _tests(names) if names else _stale_tests()
    record = run_and_record(chain.ROOT, chain.NODES, tests)
    bad = [name for name in tests if name not in record.tests or record.tests[name].outcome != PASSED]
    for name in bad:
        _say(f"{record.tests[name].outcome if name in record.tests else 'changed while it ran'}: {name}")
    _say(f"{len(tests) - len(bad)} of {len(tests)} tests passed and are on record.")
    return 1 if bad else 0


def _cross_check(names: Sequence[str]) -> int:
    """Run tests and compare what they execute with what their digests and their nodes cover."""
    nodes = [node for node in chain.NODES if not names or node.id in _below(names)]
    ran = run_tests(chain.ROOT, cited_tests(nodes), watched=True)
    missed = find_uncovered(chain.ROOT, ran.executed)
    for name, places in missed.items():
        _say(f"not covered: {name} executes {', '.join(places)}")
    for node, places in (idle := idle_binds(nodes, ran.executed)).items():
        _say(f"not executed: no test of {node} executes {', '.join(places)}")
    _say(
        f"{len(ran.executed)} tests executed {len(set().union(*ran.executed.values()))} functions; {len(missed)} tests executed "
        f"some that their digest does not cover; {len(idle)} nodes are about something that none of their tests executes."
    )
    return 1 if missed or idle else 0


def _mutate(count: int, seed: int) -> int:
    """Change source in places chosen at random, and count the changes that a stamp missed."""
    rows = campaign(chain.ROOT, chain.NODES, count, seed)
    for row in rows:
        _say(
            f"{row.kind}: {row.mutations} changes, {row.survivors} with a claim that reaches the place and still holds, "
            f"{row.wrongly} with a claim that fell and does not reach it, {row.partial} that left other claims standing"
        )
    return 1 if any(row.survivors or row.wrongly for row in rows) else 0


def _tests(names: Sequence[str]) -> list[str]:
    """Return the tests of nodes and of what these rest on, or single tests, by name."""
    below = _below(names)
    return sorted({*cited_tests([node for node in chain.NODES if node.id in below]), *(name for name in names if "::" in name)})


def _below(names: Sequence[str]) -> set[str]:
    """The ids of nodes, of claims that are named without their stage, and of what these rest on."""
    known = {node.id for node in chain.NODES}
    wanted = [one if one in known else f"{one}.claim" for one in names if "::" not in one]
    if unknown := [one for one in wanted if one not in known]:
        raise SystemExit(f"there is no node {unknown[0].removesuffix('.claim')}; docs/proofs.md lists them")
    return {node for one in wanted for ids in rests_on(chain.NODES, one).values() for node in ids}


def _stale_tests() -> list[str]:
    """The cited tests that are no evidence for the source as it is."""
    check = test_check(chain.ROOT, quick=False)
    return [name for name in cited_tests(chain.NODES) if name not in read_record(chain.ROOT).tests or check(name)]


def _join_names(names: Sequence[str], everything: int) -> str:
    """Join names, the first four of them."""
    return "all" if len(names) == everything else ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _say(text: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    raise SystemExit(main())
