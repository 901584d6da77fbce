"""Whole fits seen from outside are those of `fit`; every release moves by no more than was logged, whatever one record holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from dpaudit.auditor.checks.replay import check_replay
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.targets import Target
from learners.estimator import PrivateEstimator
from learners.targets.outside import Outside, _numbers, models

MODELS = models(1)
RECORDS = 4

numbers = st.sampled_from([0.0, -0.0, 0.6, -0.8, 1.0, -1.0, 2.0**-30, 5e-324, 1e300, -1e300, 4096.0, math.nan, math.inf, -math.inf])
plain = st.tuples(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), st.integers(0, 1))
hostile = st.tuples(st.tuples(numbers, numbers), st.integers(0, 1))


@st.composite
def neighbours(draw):
    """Records of which one is replaced by whatever a file may hold."""
    records = draw(st.lists(plain, min_size=RECORDS, max_size=RECORDS))
    place, other = draw(st.integers(0, RECORDS - 1)), draw(hostile)
    return tuple(records), (*records[:place], other, *records[place + 1 :])


@st.composite
def relabelled(draw):
    """Records of which one gets the other label."""
    records = draw(st.lists(plain, min_size=RECORDS, max_size=RECORDS))
    place = draw(st.integers(0, RECORDS - 1))
    features, label = records[place]
    return tuple(records), (*records[:place], (features, 1 - label), *records[place + 1 :])


@pytest.mark.parametrize("name", MODELS)
def test_releases_keep_their_logged_sensitivities_on_hostile_neighbours(name):
    """Record and replay: outputs of the first run are given back on the second data set, and what is read is compared."""
    outside = Outside(*MODELS[name])
    pairs = relabelled() if "label" == outside.claim.relation.kind else neighbours()
    target = Target(run=outside.run, claim=outside.claim, neighbours=pairs, name=name)
    found = check_replay(target, candidate_pairs(target), examples=15)
    assert {"releases follow from earlier outputs", "sensitivities of logged releases"} <= {each.property.name for each in found}
    assert [] == [each.property for each in found if each.property.status == "violated"]


@pytest.mark.parametrize("name", MODELS)
def test_a_run_is_a_fit(name):
    model, pair = MODELS[name]
    seen = Outside(model, pair).run(pair[0], np.random.default_rng(3))
    features, labels = np.array([features for features, _ in pair[0]]), [label for _, label in pair[0]]
    fitted = model.__class__(**{**model.get_params(deep=False), "random_state": np.random.default_rng(3)}).fit(features, labels)
    kept = {each: vars(fitted)[each] for each in fitted.released}
    assert seen.tolist() == _numbers(kept).tolist()


def test_a_claim_is_what_a_record_charges():
    for name, (model, pair) in MODELS.items():
        assert isinstance(model, PrivateEstimator), name
        relation = Outside(model, pair).claim.relation
        assert relation == model._public(np.zeros((4, 2)), len(model.classes)).adjacency
