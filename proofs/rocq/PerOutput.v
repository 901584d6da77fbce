(** Theorem B: an alignment of its own for each value of a part of the output. *)

From Coq Require Import Reals List ZArith Lra.
From Dpaudit Require Import Sums Histories Programs Alignment.
Open Scope R_scope.

Section Parts.
Context {O I : Type} (M M' : program O) (part : O -> I) (eps : R).

(** The traces of halting runs that end with part i of the output. *)
Definition halting_with (i : I) (x : history) : Prop := halting M x /\ ends_in M (fun o => part o = i) x.

(** Maps of traces, one for each part, each of which keeps outputs, costs at most eps and is one to one. *)
Lemma bound_by_parts (phi : I -> history -> history) :
  (forall i x o, halting_with i x -> M x = End o -> M' (phi i x) = End o) ->
  (forall i x, halting_with i x -> weight M x <= exp eps * weight M' (phi i x)) ->
  (forall i x y, halting_with i x -> halting_with i y -> phi i x = phi i y -> x = y) ->
  forall S : O -> Prop, probability M S <= exp eps * probability M' S.
Proof.
  intros Houtput Hweight Hone S.
  (* Without any output both sides are 0; else some part stands for traces that have not ended. *)
  destruct (Classical_Prop.classic (exists o : O, True)) as [[other _] | none].
  2:{ apply total_le. intros l _ Hl. destruct l as [|x l].
      - apply Rmult_le_pos; [left; apply exp_pos | apply probability_range].
      - destruct (Hl x (or_introl eq_refl)) as (o & _). contradiction none. now exists o. }
  pose (i := fun x => match M x with End o => part o | Draw _ => part other end).
  assert (Hi : forall x o, M x = End o -> i x = part o) by (intros x o Ho; unfold i; now rewrite Ho).
  assert (HT : forall x o, M x = End o -> 0 < weight M x -> halting_with (i x) x).
  { intros x o Ho Hw. split; [split; [exact Hw | now exists o]|]. exists o. split; [exact Ho | now rewrite (Hi x o Ho)]. }
  apply (total_transport _ _ _ _ _ _ (fun x => phi (i x) x)).
  - apply weight_nonneg.
  - left. apply exp_pos.
  - intros x (o & Ho & HS) Hw. pose proof (HT x o Ho Hw) as Hx. split; [|exact (Hweight _ x Hx)].
    exists o. split; [exact (Houtput _ x o Hx Ho) | exact HS].
  - intros x y (o & Ho & _) (p & Hp & _) Hwx Hwy E. pose proof (HT x o Ho Hwx) as Hx. pose proof (HT y p Hp Hwy) as Hy.
    (* Equal images end with the same output of M', so x and y have the same part and the same map. *)
    assert (Hsame : i x = i y).
    { pose proof (Houtput _ x o Hx Ho) as Ex. rewrite E, (Houtput _ y p Hy Hp) in Ex. injection Ex as ->.
      now rewrite (Hi x o Ho), (Hi y o Hp). }
    rewrite <- Hsame in E, Hy. exact (Hone _ x y Hx Hy E).
Qed.

(** If for each i C1 to C7 hold, with an alignment of its own, on the traces of halting runs that end with part i of the output,
    then P(M(D) in S) <= e^eps P(M(D') in S) for every S. *)
Theorem theorem_B (s : I -> history -> Z -> Z) (c : I -> history -> Z -> R) :
  (forall i, aligned M M' (s i) (c i) (halting_with i) eps) ->
  forall S : O -> Prop, probability M S <= exp eps * probability M' S.
Proof.
  intros H. apply (bound_by_parts (fun i => move (s i))).
  - intros i x o Hx. now apply (H i).
  - intros i x Hx. destruct (H i) as (H1 & _ & _ & H6 & H7). apply (weight_within M M' _ _ _ eps x H1 H6 H7 Hx). apply Hx.
  - intros i x y Hx Hy. destruct (H i) as (_ & _ & H4 & _). apply (move_injective _ _ x y H4); now apply begins_itself.
Qed.
End Parts.
