(** Programs that draw integers from adaptively chosen discrete laws, and the probability of their outputs.

    A program is what its text computes between draws: from the history, either the law of the next draw or the output. An
    exception, or a loop that draws no more and never ends, is an output of its own; a run that draws for ever has none. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories.
Import ListNotations.
Open Scope R_scope.

(** A discrete law on the integers, or on the steps of a lattice. Its sum may be below 1: less is assumed than in a probability
    law. *)
Record law := Law {
  mass :> Z -> R;
  mass_nonneg : forall v, 0 <= mass v;
  mass_bound : forall l, NoDup l -> sum_over mass l <= 1;
}.

Inductive action (O : Type) := Draw (l : law) | End (o : O).
Arguments Draw {O} l.
Arguments End {O} o.

Definition program (O : Type) := history -> action O.

Section Semantics.
Context {O : Type} (M : program O).

(** The chance that v is the next draw after h; 0 if the program has ended. *)
Definition step (h : history) (v : Z) : R :=
  match M h with
  | Draw l => l v
  | End _ => 0
  end.

(** The probability that the draws of a run begin with this history. *)
Fixpoint weight (x : history) : R :=
  match x with
  | [] => 1
  | v :: h => weight h * step h v
  end.

Definition ended (x : history) : Prop := exists o, M x = End o.
Definition ends_in (S : O -> Prop) (x : history) : Prop := exists o, M x = End o /\ S o.
Definition draws (x : history) : bool := match M x with Draw _ => true | End _ => false end.

Lemma step_nonneg h v : 0 <= step h v.
Proof. unfold step. destruct (M h); [apply mass_nonneg | lra]. Qed.

Lemma weight_nonneg x : 0 <= weight x.
Proof. induction x as [|v h IH]; simpl; [lra|]. apply Rmult_le_pos; [exact IH | apply step_nonneg]. Qed.

Lemma weight_positive v h : 0 < weight (v :: h) -> 0 < weight h /\ exists l, M h = Draw l /\ 0 < l v.
Proof.
  simpl. unfold step. pose proof (weight_nonneg h) as Hw. destruct (M h) as [l|o]; [|lra].
  pose proof (mass_nonneg l v) as Hl. intros Hp.
  assert (weight h <> 0) by (intros E; rewrite E in Hp; lra).
  assert (l v <> 0) by (intros E; rewrite E in Hp; lra).
  split; [lra|]. exists l. split; [reflexivity | lra].
Qed.

Lemma step_bound h l : NoDup l -> sum_over (step h) l <= if draws h then 1 else 0.
Proof.
  intros Hl. unfold step, draws. destruct (M h) as [d|o]; [now apply mass_bound|].
  rewrite sum_over_zero; [lra | reflexivity].
Qed.

(** The weights of the continuations of a history do not add up to more than its own. *)
Lemma weight_shrinks h l : NoDup l -> sum_over (fun v => weight (v :: h)) l <= if draws h then weight h else 0.
Proof.
  intros Hl. simpl. rewrite sum_over_scale. pose proof (Rmult_le_compat_l _ _ _ (weight_nonneg h) (step_bound h l Hl)).
  destruct (draws h); lra.
Qed.

Lemma ended_draws x : ended x <-> draws x = false.
Proof. unfold ended, draws. destruct (M x) as [|o]; split; [now intros [o] | easy | easy | now exists o]. Qed.

(** Runs that ended within fewer than n draws and runs that make n draws together have probability at most 1. *)
Lemma ended_and_alive n (a b : list history) :
  NoDup a -> (forall x, In x a -> ended x /\ (length x < n)%nat) ->
  NoDup b -> (forall x, In x b -> length x = n) ->
  sum_over weight a + sum_over weight b <= 1.
Proof.
  intros Ha HaE. apply (ended_and_going weight draws weight_nonneg weight_shrinks n a b Ha).
  intros x Hx. destruct (HaE x Hx). split; [now apply ended_draws | assumption].
Qed.

Lemma ended_bound l : NoDup l -> (forall x, In x l -> ended x) -> sum_over weight l <= 1.
Proof.
  intros Hl HE. apply (ended_total weight draws weight_nonneg weight_shrinks l Hl). intros x Hx. now apply ended_draws, HE.
Qed.

Lemma ended_summable (E : history -> Prop) : (forall x, E x -> ended x) -> summable weight E.
Proof. intros HE. exists 1. intros r (l & Hl & HlE & ->). apply ended_bound; auto. Qed.

Lemma ends_in_ended S x : ends_in S x -> ended x.
Proof. intros (o & Ho & _). now exists o. Qed.

(** P(M in S): the program ends, with an output in S. *)
Definition probability (S : O -> Prop) : R := total weight (ends_in S) (ended_summable _ (ends_in_ended S)).

Lemma alive_summable n : summable weight (fun x : history => length x = n).
Proof.
  exists 1. intros r (l & Hl & HlE & ->).
  pose proof (ended_and_alive n [] l (NoDup_nil _) (fun x Hx => match Hx with end) Hl HlE) as H. simpl in H. lra.
Qed.

(** The probability that at least n draws are made. *)
Definition alive (n : nat) : R := total weight (fun x : history => length x = n) (alive_summable n).

Lemma alive_decreasing : Un_decreasing alive.
Proof.
  intros n. apply total_le. intros b Hb Hlen. destruct (parents weight draws weight_shrinks n b Hb Hlen) as (a & Ha & HaE & Hle).
  apply Rle_trans with (1 := Hle). apply finite_le_total; [exact Ha | intros x Hx; now apply HaE].
Qed.

Lemma alive_has_lb : has_lb alive.
Proof. exists 0. intros r [n ->]. unfold opp_seq. pose proof (total_nonneg weight _ (alive_summable n)). unfold alive. lra. Qed.

(** The probability that the program draws for ever: the limit of the probabilities that at least n draws are made. *)
Definition never : R := proj1_sig (decreasing_cv alive alive_decreasing alive_has_lb).

Lemma never_is_limit : Un_cv alive never.
Proof. unfold never. now destruct decreasing_cv. Qed.

Lemma probability_range S : 0 <= probability S <= 1.
Proof.
  split; [apply total_nonneg|]. apply total_le. intros l Hl HE. apply ended_bound; [exact Hl|].
  intros x Hx. apply (ends_in_ended S), HE, Hx.
Qed.
End Semantics.
