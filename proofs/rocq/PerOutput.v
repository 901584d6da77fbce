(** Theorem B: an alignment of its own for each value of a part of the output. *)

From Coq Require Import Reals List ZArith Lra.
From Dpaudit Require Import Sums Histories Programs Alignment.
Open Scope R_scope.

(** The part of the output with which a trace ends; any value of I where it has not ended. *)
Definition part_of {O I} (M : program O) (part : O -> I) (other : I) (x : history) : I :=
  match M x with
  | End o => part o
  | Draw _ => other
  end.

(** If for each i C1 to C7 hold, with an alignment of its own, on the traces of halting runs that end with part i of the output, then
    P(M(D) in S) <= e^eps P(M(D') in S) for every S. *)
Theorem theorem_B {O I} (M M' : program O) (part : O -> I) (s : I -> history -> Z -> Z) (c : I -> history -> Z -> R) eps :
  (forall i, aligned M M' (s i) (c i) (fun x => halting M x /\ ends_in M (fun o => part o = i) x) eps) ->
  forall S : O -> Prop, probability M S <= exp eps * probability M' S.
Proof.
  intros H S.
  assert (Hpart : forall x o, M x = End o -> forall other, part_of M part other x = part o)
    by (intros x o E other; unfold part_of; now rewrite E).
  (* Without any output both sides are 0; else some part stands for traces that have not ended. *)
  destruct (Classical_Prop.classic (exists o : O, True)) as [[any _] | none].
  2:{ apply total_le. intros l _ Hl. destruct l as [|x l].
      - apply Rmult_le_pos; [left; apply exp_pos | apply probability_range].
      - destruct (Hl x (or_introl eq_refl)) as (o & _). contradiction none. now exists o. }
  set (i := part_of M part (part any)).
  set (T := fun j x => halting M x /\ ends_in M (fun o => part o = j) x).
  assert (HT : forall x o, M x = End o -> 0 < weight M x -> T (i x) x).
  { intros x o Ho Hw. split; [now split; [|exists o]|]. exists o. split; [exact Ho|]. symmetry. now apply Hpart. }
  apply (total_transport _ _ _ _ _ _ (fun x => move (s (i x)) x)).
  - apply weight_nonneg.
  - left. apply exp_pos.
  - intros x (o & Ho & HS) Hw. destruct (H (i x)) as (H1 & H2 & H4 & H6 & H7). pose proof (HT x o Ho Hw) as Hx. split.
    + exists o. split; [exact (H2 x o Hx Ho) | exact HS].
    + exact (weight_within M M' _ _ _ eps x H1 H6 H7 Hx Hw).
  - intros x y (o & Ho & _) (p & Hp & _) Hwx Hwy E.
    pose proof (HT x o Ho Hwx) as Hx. pose proof (HT y p Hp Hwy) as Hy.
    (* Equal moved traces end with the same output of M', so x and y have the same part and the same alignment. *)
    assert (Hsame : i x = i y).
    { pose proof (proj1 (proj2 (H (i x))) x o Hx Ho) as Ex. pose proof (proj1 (proj2 (H (i y))) y p Hy Hp) as Ey.
      rewrite E, Ey in Ex. injection Ex as ->. unfold i. now rewrite !(Hpart _ _ Ho), !(Hpart _ _ Hp). }
    rewrite <- Hsame in E, Hy. destruct (H (i x)) as (_ & _ & H4 & _).
    apply (move_injective _ (T (i x)) x y H4); [now apply begins_itself | now apply begins_itself | exact E].
Qed.
