"""What anybody sees of a fit besides its noise is the same whatever the records are, and under add_remove however many there are.

Seen are: errors, warnings, log messages, the privacy record, what a budget has left, the plan, and the type, shape and dtype of
every attribute and prediction.
"""

from __future__ import annotations

import importlib.util
import logging
import pickle
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from dpaudit.claims import ApproxDP
from dpaudit.errors import DpauditError, InvalidArgument
from learners.budget import Budget
from learners.rows.schema import LABEL_OBJECTS, LISTED, OBJECTS, require_number_columns


def loaded(name):
    """A module that stands beside this file."""
    specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


every = loaded("test_every_learner")
COVERED = [(name, kind) for name in sorted(every.ESTIMATORS) for kind in every.made(name).adjacencies]
HIDING = [name for name, kind in COVERED if kind == "add_remove"]
WIDTH = 4

rng = np.random.default_rng(11)
LABELS = {
    "all of one class": lambda count: np.full(count, "yes"),
    "all of the other class": lambda count: np.full(count, "no"),
    "both": lambda count: np.where(np.arange(count) % 2, "yes", "no"),
}
FEATURES = {
    "equal": lambda count: np.full((count, WIDTH), 0.25),
    "zero": lambda count: np.zeros((count, WIDTH)),
    "no number": lambda count: np.full((count, WIDTH), np.nan),
    "infinite": lambda count: np.full((count, WIDTH), np.inf),
    "huge": lambda count: np.full((count, WIDTH), -1e308),
    "tiny": lambda count: np.full((count, WIDTH), 5e-324),
    "usual": lambda count: rng.normal(size=(count, WIDTH)),
}
FORMS = {"array": np.asarray, "csr": csr_array, "integers": lambda rows: np.sign(np.nan_to_num(rows)).astype(np.int8)}
CASES = list(zip(FEATURES.values(), [*LABELS.values()] * 3, strict=False))
PROBE = np.array([[0.5, 0.0, 0.0, 0.0], [-0.1, 0.2, 0.3, 0.0]])


class Kept(logging.Handler):
    """Keeps every message that anybody logs."""

    def __init__(self):
        super().__init__(0)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def form_of(value):
    """Type, shape and dtype of a value, of a model those of all that it holds."""
    if hasattr(value, "get_params"):
        return {name: form_of(entry) for name, entry in vars(value).items()}
    return type(value), getattr(value, "shape", None), getattr(value, "dtype", None)


def outcome(name, features, labels, **given):
    """Everything that a fit shows besides numbers with noise."""
    kept, kinds = Kept(), {} if name in every.REGRESSORS else {"classes": given.pop("classes", ["no", "yes"])}
    budget = Budget(ApproxDP(epsilon=400, delta="1e-2"), adjacency=given["adjacency"])
    logging.getLogger().addHandler(kept)
    try:
        with warnings.catch_warnings(record=True) as warned, np.errstate(all="warn"):
            warnings.simplefilter("always")
            model = every.made(name, budget=budget, **kinds, **given)
            try:
                fitted = model.fit(features, labels)
            except DpauditError as error:
                return (type(error), str(error)), [str(each.message) for each in warned], kept.messages
            said = fitted.predict(PROBE)
            nothing = fitted.predict(PROBE[:0])
    finally:
        logging.getLogger().removeHandler(kept)
    facts = {name: value for name, value in vars(fitted).items() if name != "budget"}
    return (
        fitted.privacy_,
        budget.spent,
        {name: form_of(value) for name, value in facts.items()},
        pickle.dumps(fitted.plan_),
        (said.shape, said.dtype, nothing.shape, nothing.dtype),
        [str(each.message) for each in warned],
        kept.messages,
    )


def test_several_learners_hide_the_number_of_records():
    assert {"KernelMarginClassifier", "PolynomialMarginClassifier", "PrivateClassifier", "PublicSubspaceClassifier"} <= {*HIDING}
    assert "PublicSubspaceRegressor" in HIDING


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HIDING)
def test_under_add_remove_no_outcome_depends_on_number_or_content_of_records(name, form):
    shown = [
        outcome(name, FORMS[form](features(count)), every.labelled(name, labels(count)), adjacency="add_remove", n_nominal=20)
        for count in (0, 1, 2)
        for features, labels in CASES[: len(CASES) if count else 1]
    ]
    assert not isinstance(shown[0][0], tuple), shown[0][0]
    assert [shown[0]] * len(shown) == shown


@pytest.mark.parametrize("name", [name for name in HIDING if name not in every.REGRESSORS])
@pytest.mark.parametrize("classes", [["only"], ["a", "b", "c"]])
def test_under_add_remove_one_class_and_several_are_as_silent_as_two(name, classes):
    shown = [
        outcome(name, rng.normal(size=(count, WIDTH)), np.full(count, "c"), adjacency="add_remove", n_nominal=9, classes=classes)
        for count in (0, 1, 2, 30)
    ]
    assert [shown[0]] * len(shown) == shown
    assert len(classes) == 1 or (3, 9) == (len(shown[0][0].public["classes"]), shown[0][0].public["records"])


@pytest.mark.parametrize(("width", "nominal"), [(1, 1), (300, 1), (300, 10**6)])
def test_under_add_remove_the_nominal_number_may_be_far_from_the_true_one(width, nominal):
    model = every.made("PrivateClassifier", adjacency="add_remove", n_nominal=nominal)
    shown = [clone(model).fit(np.full((count, width), 0.5), ["yes"] * count) for count in (0, 1, 4000)]
    assert 1 == len({pickle.dumps(model.plan_) for model in shown})
    assert {(3,)} == {model.predict(np.zeros((3, width))).shape for model in shown}


@pytest.mark.parametrize(("name", "kind"), [case for case in COVERED if case[1] != "add_remove"])
def test_where_the_number_of_records_is_public_no_outcome_depends_on_their_content(name, kind):
    for count in (2, 3):
        shown = [outcome(name, features(count), every.labelled(name, labels(count)), adjacency=kind) for features, labels in CASES]
        assert [shown[0]] * len(shown) == shown
    refused, *_ = outcome(name, np.zeros((0, WIDTH)), every.labelled(name, np.full(0, "no")), adjacency=kind)
    assert InvalidArgument is refused[0]
    assert "DPA109 0 sample(s) (shape=(0, 4))" in refused[1]


@pytest.mark.parametrize("name", HIDING)
def test_under_add_remove_no_refusal_shows_how_many_records_there_are(name):
    model = every.made(name, adjacency="add_remove", n_nominal=20)
    wrong = [
        (np.zeros((31, WIDTH)), np.zeros(30)),
        (np.zeros((31, 0)), np.zeros(31)),
        (np.zeros(31), np.zeros(31)),
        (np.full((31, 2), "a"), np.zeros(31)),
        (np.zeros((31, WIDTH)), np.zeros((31, 2))),
    ]
    for features, labels in wrong:
        with pytest.raises(InvalidArgument) as caught:
            model.fit(features, labels)
        assert "31" not in str(caught.value)
        assert "30" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in HIDING if name not in every.REGRESSORS])
def test_under_add_remove_classes_are_not_read_from_the_labels(name):
    for count in (0, 1, 30):
        with pytest.raises(InvalidArgument, match="DPA603 classes is missing: under add_remove"):
            every.made(name, adjacency="add_remove", n_nominal=20, classes=None).fit(np.ones((count, 2)), np.arange(count) % 2)


class Table:
    """A table with declared column types, as pandas and polars have them."""

    def __init__(self, columns, cells):
        self.columns, self.dtypes, self._cells = [*columns], [*columns.values()], cells

    def __array__(self, dtype=None, copy=None):
        return np.array(self._cells, dtype=dtype or object)


class Extension:
    """A column type of pandas: a letter, and a name that may show what is in the column."""

    def __init__(self, kind, name):
        self.kind, self._name = kind, name

    def __str__(self):
        return self._name


class Polars:
    """A column type of polars: a name, and whether it is a number."""

    def __init__(self, name, *, numeric=False):
        self._name, self._numeric = name, numeric

    def is_numeric(self):
        return self._numeric

    def __str__(self):
        return self._name


FOREIGN = {
    "object": np.dtype(object),
    "text of numpy": np.dtype("<U17"),
    "bytes of numpy": np.dtype("S9"),
    "date": np.dtype("datetime64[ns]"),
    "time difference": np.dtype("timedelta64[ns]"),
    "complex": np.dtype(complex),
    "date with zone": Extension("M", "datetime64[ns, Europe/Berlin]"),
    "category": Extension("O", "category"),
    "string": Extension("O", "string[python]"),
    "period": Extension("O", "period[D]"),
    "polars text": Polars("String"),
    "polars categories": Polars("Enum(categories=['Ada', 'Bob'])"),
    "polars list": Polars("List(Int64)"),
}
NUMBERS = {
    "float": np.dtype(float),
    "int8": np.dtype(np.int8),
    "bool": np.dtype(bool),
    "nullable": Extension("i", "Int64"),
    "nullable bool": Extension("b", "boolean"),
    "polars": Polars("Float32", numeric=True),
    "polars bool": Polars("Boolean"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_column_of_another_type_than_numbers_is_refused_by_name_before_a_value_is_read(kind):
    class Unread(Table):
        def __array__(self, dtype=None, copy=None):
            raise AssertionError("a value was read")

    table = Unread({"age": np.dtype(float), "city": FOREIGN[kind], "job": FOREIGN[kind]}, None)
    with pytest.raises(InvalidArgument, match=r"DPA105 features must be numbers, got columns of other types: 'city' \(") as caught:
        every.made("PrivateClassifier").fit(table, ["yes"])
    text = str(caught.value)
    assert "'job'" in text
    assert "'age'" not in text
    assert not [shown for shown in ("17", "9)", "Ada", "Berlin") if shown in text]


def test_of_many_columns_a_few_are_named():
    with pytest.raises(InvalidArgument, match=r"'c4' \(object\) and 7 more\."):
        require_number_columns(Table({f"c{place}": np.dtype(object) for place in range(12)}, None))


def test_tables_of_numbers_are_read_and_their_gaps_are_zeros():
    cells = [[0.5, 1, True, None, True, 0.25, False], [0.5, 1, True, 2, None, 0.25, False]] * 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = every.made("PrivateClassifier").fit(Table(NUMBERS, cells), ["yes", "no"] * 10)
    assert () == model.privacy_.notes
    assert 7 == model.n_features_in_


NUMBERS_AS_OBJECTS = np.full((6, 2), 0.5, dtype=object)
WITH_TEXT = np.array([[0.5, "Ada"]] * 6, dtype=object)


@pytest.mark.parametrize("cells", [NUMBERS_AS_OBJECTS, WITH_TEXT], ids=["numbers", "text"])
def test_an_array_of_objects_is_warned_of_and_noted_whatever_it_holds(cells):
    with pytest.warns(DataConversionWarning, match="X is an array of objects") as seen:
        model = every.made("PrivateClassifier").fit(cells, ["yes", "no"] * 3)
    assert [OBJECTS] == [str(each.message) for each in seen]
    assert (OBJECTS,) == model.privacy_.notes
    with pytest.warns(DataConversionWarning, match="X is an array of objects"):
        model.predict(cells)


@pytest.mark.parametrize("cell", [0.5, "Ada", None, 1j, np.datetime64("2020-01-01"), [1.0], 10**400], ids=repr)
def test_one_cell_of_a_list_changes_neither_refusal_nor_notes(cell):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = every.made("PrivateClassifier").fit([[0.5, 0.25]] * 5 + [[0.5, cell]], ["yes", "no"] * 3)
    assert (LISTED,) == model.privacy_.notes


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(InvalidArgument, match="DPA105 X must be a table of numbers with rows of equal length, got a list"):
        every.made("PrivateClassifier").fit([[0.5, 0.25], [0.5]], ["yes", "no"])


def test_an_empty_list_is_refused_for_its_form():
    with pytest.raises(InvalidArgument, match=r"got an empty list.* Give numpy\.zeros\(\(0, d\)\)"):
        every.made("PrivateClassifier", adjacency="add_remove", n_nominal=9).fit([], [])


WIDE, NARROW = "a" * 37, "a"


@pytest.mark.parametrize("name", sorted(every.ESTIMATORS))
def test_no_error_shows_how_long_a_text_is(name):
    """The dtype of an array of text holds the length of the longest, which is somebody's."""
    for text in (WIDE, NARROW):
        said = set()
        for features, labels in [
            (np.full((3, 2), text), np.ones(3)),
            (np.full((3, 2), text.encode()), np.ones(3)),
            (np.ones((3, 2)), np.full((3, 2), text)),
            (np.ones((3, 2)), np.full(3, text.encode())),
        ]:
            with pytest.raises(DpauditError) as caught:
                every.made(name).fit(features, labels)
            said.add(str(caught.value))
        assert not [each for each in said if "37" in each or "<U" in each or "|S" in each]


def test_predictions_have_the_type_of_the_public_classes():
    for labels in (np.array(["yes", WIDE] * 3), np.array(["no", "yes"] * 3, dtype=object), np.array(["no", "yes"] * 3)):
        model = every.made("PrivateClassifier").fit(np.ones((6, 2)), labels)
        assert np.dtype("<U3") == model.predict(np.ones((2, 2))).dtype == model.classes_.dtype
        assert WIDE not in repr(vars(model))


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ([0, 1], np.array(["0", "1"])),
        (["0", "1"], np.array([0, 1])),
        (["no", "yes"], np.array([b"no", b"yes"])),
        ([0, 1], np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")),
        (["no", "yes"], np.array([True, False])),
    ],
    ids=lambda value: str(value)[:20],
)
def test_labels_of_a_type_that_no_class_has_are_refused_by_type(classes, labels):
    model = every.made("PrivateClassifier", classes=classes)
    with pytest.raises(InvalidArgument, match=r"DPA105 y is an array of .*, but classes are (text|numbers)"):
        model.fit(np.ones((2, 2)), labels)
    assert 2 == model.fit(np.ones((2, 2)), [*labels]).privacy_.public["records"]


@pytest.mark.parametrize("name", sorted(every.REGRESSORS))
def test_regressors_refuse_labels_of_another_type_and_note_labels_without_one(name):
    for labels in (np.array(["1", "2"]), np.array(["2020-01-01"] * 2, dtype="datetime64[D]"), np.array([1j, 2])):
        with pytest.raises(InvalidArgument, match="DPA105 y must be numbers for a regressor, got an array of"):
            every.made(name).fit(np.ones((2, 2)), labels)
    for labels in ([1.0, 0.5], np.array([1, "Ada"], dtype=object), ["Ada", None]):
        assert (LABEL_OBJECTS,) == every.made(name).fit(np.ones((2, 2)), labels).privacy_.notes
    assert Fraction(2) >= every.made(name).fit(np.ones((2, 2)), np.ones(2)).privacy_.epsilon
