"""The formal proofs: nothing is taken for granted beyond the listed axioms, and `python3 dev rocq` notices where something is."""

from __future__ import annotations

import re
import shutil

import pytest

from devtools import verbs
from devtools.failures import SetupFailure
from devtools.rocq import ABSENT, check_rocq, theorems, unproven, without_comments
from devtools.survey import ROOT

FOLDER = ROOT / "proofs" / "rocq"
FILES = (FOLDER / "_CoqProject").read_text(encoding="utf-8").split()[3:]
LISTED = (FOLDER / "assumptions.txt").read_text(encoding="utf-8").splitlines()
REALS = {"ClassicalDedekindReals.sig_forall_dec", "ClassicalDedekindReals.sig_not_dec"}
LOGIC = {"Classical_Prop.classic", "FunctionalExtensionality.functional_extensionality_dep"}
needs_rocq = pytest.mark.skipif(shutil.which("coqc") is None, reason=ABSENT)


@pytest.fixture
def project(tmp_path):
    """A folder with one file, whose one theorem needs no axiom."""
    folder = tmp_path / "rocq"
    folder.mkdir()
    (folder / "_CoqProject").write_text("-Q . Dpaudit\nOne.v\n")
    (folder / "One.v").write_text("Theorem one : 1 = 1.\nProof. reflexivity. Qed.\n")
    (folder / "assumptions.txt").write_text("One.one\n  no axiom\n")
    return folder


def test_where_rocq_is_missing_one_sentence_says_so_and_nothing_fails(monkeypatch, capsys):
    monkeypatch.setattr(verbs.shutil, "which", lambda name: None)
    assert 0 == verbs.main(["rocq"])
    assert f"dev: {ABSENT}\n" == capsys.readouterr().err


def test_the_shipped_proofs_are_all_built_and_take_nothing_for_granted():
    assert [] == list(unproven(FOLDER, FILES))


def test_the_committed_list_names_every_theorem_and_no_axiom_but_those_of_the_reals_classical_logic_and_equal_functions():
    names = [name.removeprefix("Dpaudit.") for file in FILES for name in theorems(FOLDER / file)]
    assert names == [line for line in LISTED if not line.startswith(" ")]
    assert {line.strip() for line in LISTED if line.startswith(" ")} <= REALS | LOGIC | {"no axiom"}


def test_every_formal_statement_that_the_documentation_names_is_in_its_file():
    page = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| (\w+)[^|]* \| \[(\w+\.v)\]\(\.\./proofs/rocq/\2\) \|", page, flags=re.MULTILINE)
    assert {"theorem_A", "theorem_B", "theorem_C", "theorem_D", "theorem_P"} <= {name for name, _ in rows}
    texts = {file: (FOLDER / file).read_text(encoding="utf-8") for _, file in rows}
    assert [] == [row for row in rows if not re.search(rf"^(Theorem|Definition) {row[0]} ", texts[row[1]], flags=re.MULTILINE)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Lemma a : False. Admitted.", ["Admitted"]),
        ("Proof. admit. Admitted.", ["admit", "Admitted"]),
        ("Axiom a : False.\nAxioms b c : False.", ["Axiom", "Axioms"]),
        ("Module T. Parameter p : nat. End T.", ["Parameter"]),
        ("Conjecture c : False.", ["Conjecture"]),
        ("Unset  Guard Checking.", ["Unset  Guard Checking"]),
        ("#[bypass_check(universes)] Definition d := Type.", ["bypass_check"]),
        ('(* Axiom (* nested *) Admitted "*)" *) Definition d := "Axiom (* "%string.', []),
        ('Definition d := "(*"%string. Axiom hidden : False. Definition e := "*)"%string.', ["Axiom"]),
        ("(* no string: *) Lemma parameters_admitted : True.", []),
    ],
)
def test_words_that_take_something_for_granted_are_found_outside_comments(project, text, words):
    (project / "One.v").write_text(text)
    assert words == [found.split(": ", 1)[1] for found in unproven(project, ["One.v"])]


def test_a_file_that_is_not_built_is_named(project):
    (project / "Two.v").write_text("")
    assert ["Two.v is not both in the folder and in _CoqProject"] == list(unproven(project, ["One.v"]))


def test_comments_are_blanked_with_their_lines_kept():
    assert "a \n b" == without_comments("a (* x\n (* y *) z *) b")


@needs_rocq
@pytest.mark.slow
def test_a_hypothesis_that_no_word_betrays_is_seen_in_the_list_of_axioms(project, tmp_path):
    assert ("One.one\n  no axiom\n", []) == check_rocq(project, tmp_path / "build")
    (project / "One.v").write_text("Variable cheat : False.\nTheorem one : 1 = 2.\nProof. destruct cheat. Qed.\n")
    found, faults = check_rocq(project, tmp_path / "build")
    assert "One.one\n  One.cheat\n" == found
    assert "-  no axiom" in faults


@needs_rocq
@pytest.mark.slow
def test_a_proof_that_does_not_prove_is_refused(project, tmp_path):
    (project / "One.v").write_text("Theorem one : 1 = 2.\nProof. reflexivity. Qed.\n")
    with pytest.raises(SetupFailure, match=r"coqc One\.v failed:(?s:.*)Unable to unify"):
        check_rocq(project, tmp_path / "build")


@needs_rocq
@pytest.mark.timeout(600)
@pytest.mark.campaign
def test_the_shipped_proofs_are_proofs(tmp_path):
    assert ("\n".join(LISTED) + "\n", []) == check_rocq(FOLDER, tmp_path / "build")
