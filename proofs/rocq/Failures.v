(** Failures: a claim (eps, delta) may leave out runs in which a draw fails, and pays for them with the probability of failing. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs Alignment Composition.
Import ListNotations.
Open Scope R_scope.

Section Failures.
Context {O : Type} (M : program O).

(** Halting runs in which something fails. *)
Variable F : history -> Prop.

Lemma failing_summable : summable (weight M) (fun x => ended M x /\ F x).
Proof. apply ended_summable. now intros x [H _]. Qed.

(** P_D(F). *)
Definition failing : R := total (weight M) (fun x => ended M x /\ F x) failing_summable.

(** If C1 to C7 hold on the traces of halting runs without a failure, then P(M(D) in S) <= e^eps P(M(D') in S) + P_D(F). *)
Theorem without_failures (M' : program O) s c eps :
  aligned M M' s c (fun x => halting M x /\ ~ F x) eps ->
  forall S : O -> Prop, probability M S <= exp eps * probability M' S + failing.
Proof.
  intros H S. set (T := fun x => halting M x /\ ~ F x) in H. pose proof H as (H1 & H2 & H4 & H6 & H7).
  assert (Hgood : summable (weight M) (fun x => ends_in M S x /\ ~ F x)).
  { apply ended_summable. intros x [Hx _]. exact (ends_in_ended M S x Hx). }
  assert (Hsplit : probability M S <= total (weight M) _ Hgood + failing).
  { apply total_le. intros l Hl HE. pose (fails := fun x => if decide (F x) then true else false).
    rewrite (sum_over_split fails). rewrite Rplus_comm. apply Rplus_le_compat; apply finite_le_total; try now apply NoDup_filter.
    - intros x Hx. apply filter_In in Hx as [Hx Hf]. split; [auto|]. unfold fails in Hf. now destruct (decide (F x)).
    - intros x Hx. apply filter_In in Hx as [Hx Hf]. split; [exact (ends_in_ended M S x (HE x Hx))|].
      unfold fails in Hf. now destruct (decide (F x)). }
  apply Rle_trans with (1 := Hsplit). apply Rplus_le_compat_r.
  assert (HT : forall x, ends_in M S x /\ ~ F x -> 0 < weight M x -> T x).
  { intros x [Hx Hf] Hw. split; [split; [exact Hw | exact (ends_in_ended M S x Hx)] | exact Hf]. }
  apply (total_transport _ _ _ _ _ _ (move s)).
  - apply weight_nonneg.
  - left. apply exp_pos.
  - intros x Hx Hw. pose proof (HT x Hx Hw) as Hx'. split; [|now apply (weight_within M M' s c T)].
    destruct Hx as [(o & Ho & HS) _]. exists o. split; [exact (H2 x o Hx' Ho) | exact HS].
  - intros x y Hx Hy Hwx Hwy. apply (move_injective s T); [exact H4 | |]; apply begins_itself; auto.
Qed.
End Failures.

(** The ledger: each draw is charged at least its chance to fail, before it is made. *)
Section Ledger.
Context {O : Type} (M : program O).
Variable fails : history -> Z -> bool.  (** whether this draw fails, given the draws before it *)
Variable charge : history -> R.
Variable delta : R.

Fixpoint failed (x : history) : bool :=
  match x with
  | [] => false
  | v :: h => failed h || fails h v
  end.

Fixpoint charged (x : history) : R :=
  match x with
  | [] => 0
  | v :: h => charged h + charge h
  end.

Hypothesis delta_nonneg : 0 <= delta.
Hypothesis chance : forall h l k, possible M h -> failed h = false -> M h = Draw l -> NoDup k ->
  sum_over l (filter (fails h) k) <= charge h.
Hypothesis ledger : forall h l, possible M h -> failed h = false -> M h = Draw l -> charged h + charge h <= delta.

(** What failures after x can still cost, or the chance of x where one has happened. *)
Definition at_stake (x : history) : R := if failed x then weight M x else weight M x * (delta - charged x).

Lemma within_ledger x : possible M x -> failed x = false -> charged x <= delta.
Proof.
  destruct x as [|v h]; simpl; [now intros|]. intros Hx Hf. apply Bool.orb_false_iff in Hf as [Hf _].
  destruct (weight_positive M v h Hx) as (Hh & l & Hl & _). exact (ledger h l Hh Hf Hl).
Qed.

Lemma at_stake_nonneg x : 0 <= at_stake x.
Proof.
  unfold at_stake. pose proof (weight_nonneg M x) as Hw. destruct (failed x) eqn:Hf; [exact Hw|].
  destruct (Rle_lt_or_eq_dec _ _ Hw) as [Hp | <-]; [|lra].
  pose proof (within_ledger x Hp Hf). apply Rmult_le_pos; lra.
Qed.

Lemma at_stake_shrinks h l : NoDup l -> sum_over (fun v => at_stake (v :: h)) l <= if draws M h then at_stake h else 0.
Proof.
  intros Hl. unfold at_stake. simpl. pose proof (weight_shrinks M h l Hl) as Hshrink. simpl in Hshrink.
  destruct (failed h) eqn:Hf; simpl; [exact Hshrink|].
  destruct (M h) as [d|o] eqn:Hd.
  2:{ unfold draws. rewrite Hd. rewrite sum_over_zero; [lra|]. intros v _. unfold step. rewrite Hd. destruct (fails h v); lra. }
  unfold draws. rewrite Hd. destruct (Rle_lt_or_eq_dec _ _ (weight_nonneg M h)) as [Hp | <-].
  2:{ rewrite sum_over_zero; [lra|]. intros v _. destruct (fails h v); lra. }
  pose proof (chance h d l Hp Hf Hd Hl) as Hchance. pose proof (ledger h d Hp Hf Hd) as Hledger.
  pose proof (mass_bound d l Hl) as Hmass. rewrite (sum_over_split (fails h)) in Hmass |- *.
  set (good := filter (fun v => negb (fails h v)) l) in *. set (bad := filter (fails h) l) in *.
  rewrite (sum_over_eq _ (fun v => weight M h * d v) bad).
  2:{ intros v Hv. apply filter_In in Hv as [_ ->]. unfold step. now rewrite Hd. }
  rewrite (sum_over_eq _ (fun v => weight M h * (delta - (charged h + charge h)) * d v) good).
  2:{ intros v Hv. apply filter_In in Hv as [_ Hv]. apply Bool.negb_true_iff in Hv. rewrite Hv. unfold step. rewrite Hd. ring. }
  rewrite !sum_over_scale, Rmult_assoc, <- Rmult_plus_distr_l. apply Rmult_le_compat_l; [lra|].
  assert (Hbad : 0 <= sum_over d bad) by (apply sum_over_nonneg; intros; apply mass_nonneg).
  assert (Hrest : (delta - (charged h + charge h)) * sum_over d good <= (delta - (charged h + charge h)) * 1)
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** A run fails with probability at most delta. *)
Theorem failing_within_ledger : failing M (fun x => failed x = true) <= delta.
Proof.
  apply total_le. intros l Hl HE. apply Rle_trans with (sum_over at_stake l).
  - apply sum_over_le. intros x Hx. unfold at_stake. destruct (HE x Hx) as [_ ->]. lra.
  - replace delta with (at_stake []) by (unfold at_stake; simpl; lra).
    apply (ended_total at_stake (draws M) at_stake_nonneg at_stake_shrinks l Hl).
    intros x Hx. apply ended_draws. now apply HE.
Qed.

(** Both together: P(M(D) in S) <= e^eps P(M(D') in S) + delta. *)
Theorem theorem_A_with_failures (M' : program O) s c eps :
  aligned M M' s c (fun x => halting M x /\ failed x <> true) eps ->
  forall S : O -> Prop, probability M S <= exp eps * probability M' S + delta.
Proof.
  intros H S. pose proof (without_failures M (fun x => failed x = true) M' s c eps H S). pose proof failing_within_ledger. lra.
Qed.
End Ledger.
