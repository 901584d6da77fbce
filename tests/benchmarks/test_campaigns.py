"""Long measurements: interrupted and continued without loss, and counted right."""

import json
import math
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import error_rates
import refutation
from resuming import results

JOBS = [{"seed": seed} for seed in range(5)]


def squared(job):
    return {"square": job["seed"] ** 2}


def made(state, work=squared, workers=1):
    return results(JOBS, work, state=state, workers=workers, title="squares")


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_jobs(workers):
    assert [{"square": seed**2} for seed in range(5)] == made(None, workers=workers)


def test_what_a_file_has_is_not_done_again(tmp_path):
    state = tmp_path / "state.jsonl"
    first = made(state)

    def forbidden(_):
        raise AssertionError("done again")

    assert first == made(state, forbidden)
    assert 5 == len(state.read_text().splitlines())


def test_an_interrupt_keeps_what_was_done_and_the_next_start_goes_on(tmp_path):
    state = tmp_path / "state.jsonl"

    def interrupted(job):
        if job["seed"] == 3:
            raise KeyboardInterrupt
        return squared(job)

    assert [{"square": 0}, {"square": 1}, {"square": 4}, None, None] == made(state, interrupted)
    assert [{"square": seed**2} for seed in range(5)] == made(state)
    assert 5 == len(state.read_text().splitlines())


def test_a_line_that_was_cut_short_is_made_anew(tmp_path):
    state = tmp_path / "state.jsonl"
    made(state)
    text = state.read_text()
    state.write_text(text[:-7])

    assert [{"square": seed**2} for seed in range(5)] == made(state)
    assert JOBS == [json.loads(line)["job"] for line in state.read_text().splitlines()]


def test_jobs_with_other_settings_are_other_jobs(tmp_path):
    state = tmp_path / "state.jsonl"
    made(state)

    assert [{"square": 4}] == results([{"seed": 2, "runs": 9}], squared, state=state, workers=1, title="squares")
    assert 6 == len(state.read_text().splitlines())


def test_the_limit_on_an_error_rate_is_the_exact_one():
    # No error in n trials has probability (1 - rate)^n.
    assert 1 - 0.01 ** (1 / 500) == pytest.approx(error_rates.upper_limit(0, 500), rel=1e-12)
    assert 1.0 == error_rates.upper_limit(500, 500)


def test_the_bars_count_trials_and_not_claims():
    found = [{"errors": ["first", "second"], "seconds": 2.0}, *[{"errors": [], "seconds": 1.0}] * 499]

    assert ["family", "4,000", "500", "1", "0.0020"] == error_rates.row_of("family", 4000, found)[:5]
    assert "first, second" == error_rates.row_of("family", 4000, found)[6]


@pytest.mark.parametrize(("errors", "met"), [(19, True), (20, False)])
def test_the_family_bar_is_on_the_limit_of_the_rate(errors, met):
    (bar,) = error_rates.bars_of({"family": [True] * errors + [False] * (500 - errors)})

    assert met == bar.met


def test_the_peeking_bar_is_on_the_share_itself():
    (bar,) = error_rates.bars_of({"peeking": [True] * 50 + [False] * 950})

    assert (0.05, True) == (bar.figure, bar.met)


def test_only_true_claims_are_in_the_family_and_tight_ones_are_watched():
    assert not any(one.broken or one.truth.violates for one in error_rates.sound())
    assert {"laplace", "geometric", "randomized_response", "gaussian"} <= {one.name for one in error_rates.tight()}
    assert {"svt1", "sampled_laplace"}.isdisjoint(one.name for one in error_rates.tight())


def test_one_audit_of_each_kind_is_plain_data():
    job = {"part": "peeking", "epsilon": "1/2", "runs": 600, "seed": 0}
    found = error_rates.peeking_of(job)

    assert found == json.loads(json.dumps(found))
    assert [] == found["errors"]
    assert found["peak"] < math.log10(20)


def test_claims_that_are_never_refuted_count_as_infinitely_slow():
    found = [{"stopped": runs, "seconds": 1.0} for runs in (100, 200, None)]
    row = refutation.ROWS[0]

    assert "200 (-)" == refutation.stops_of(found).shown()
    assert [row.name, "200 (-)", "200", "300 (300)", "250", "**not met**"] == refutation.cells(
        row, refutation.stops_of(found), refutation.Stops((300.0,))
    )


def test_every_claim_of_the_table_is_false_and_has_a_bar():
    assert len(refutation.ROWS) == len({row.name for row in refutation.ROWS})
    stopped = refutation.refutation({"row": "Laplace 2x", "alpha": "0.1", "runs": 4000, "seed": 1})["stopped"]

    assert 16 < stopped < 4000
