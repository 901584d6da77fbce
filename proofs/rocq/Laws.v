(** Laws for the examples: a coin with values 0 and 1, and two-sided geometric noise (discrete Laplace noise). *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs WholeProbability.
Import ListNotations.
Open Scope R_scope.

(** A sum over any list is at most the sum over one that holds all values of positive mass. *)
Lemma sum_over_support (f : Z -> R) (K l : list Z) :
  (forall v, 0 <= f v) -> (forall v, ~ In v K -> f v = 0) -> NoDup l -> sum_over f l <= sum_over f K.
Proof.
  intros Hf HK Hl. set (inside := fun v => if in_dec Z.eq_dec v K then true else false).
  rewrite (sum_over_filter inside).
  - apply sum_over_incl; [exact Hf | now apply NoDup_filter|]. intros v Hv. apply filter_In in Hv as [_ Hv].
    unfold inside in Hv. now destruct in_dec.
  - intros v _ Hv. apply HK. unfold inside in Hv. now destruct in_dec.
Qed.

(** 1 with probability p, else 0. *)
Definition coin_mass (p : R) (v : Z) : R := if Z.eq_dec v 1 then p else if Z.eq_dec v 0 then 1 - p else 0.

Lemma coin_nonneg p : 0 <= p <= 1 -> forall v, 0 <= coin_mass p v.
Proof. intros Hp v. unfold coin_mass. destruct (Z.eq_dec v 1), (Z.eq_dec v 0); lra. Qed.

Lemma coin_bound p : 0 <= p <= 1 -> forall l, NoDup l -> sum_over (coin_mass p) l <= 1.
Proof.
  intros Hp l Hl. apply Rle_trans with (sum_over (coin_mass p) [1%Z; 0%Z]).
  - apply sum_over_support; [now apply coin_nonneg | | exact Hl].
    intros v Hv. unfold coin_mass. simpl in Hv.
    destruct (Z.eq_dec v 1), (Z.eq_dec v 0); [..|reflexivity]; contradiction Hv; auto.
  - unfold coin_mass. simpl. lra.
Qed.

Definition coin (p : R) (Hp : 0 <= p <= 1) : law := Law (coin_mass p) (coin_nonneg p Hp) (coin_bound p Hp).

Lemma coin_whole p Hp : sums_to_one (coin p Hp).
Proof.
  apply Rle_antisym.
  - apply total_le. intros l Hl _. now apply mass_bound.
  - replace 1 with (sum_over (coin p Hp) [1%Z; 0%Z]) by (simpl; unfold coin_mass; simpl; lra).
    apply finite_le_total; [|easy]. repeat constructor; simpl; intuition discriminate.
Qed.

(** Two-sided geometric noise: the mass of v is proportional to q^|v|. *)
Section Geometric.
Variable q : R.
Hypothesis Hq : 0 < q < 1.

Definition geometric_mass (v : Z) : R := (1 - q) / (1 + q) * q ^ Z.abs_nat v.

Lemma geometric_positive v : 0 < geometric_mass v.
Proof. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | apply pow_lt; lra]. Qed.

(** The integers from -n to n. *)
Definition interval (n : nat) : list Z := map Z.of_nat (seq 0 (S n)) ++ map (fun i => (- Z.of_nat i)%Z) (seq 1 n).

Lemma interval_nodup n : NoDup (interval n).
Proof.
  apply NoDup_append.
  - apply NoDup_map_on; [apply seq_NoDup | lia].
  - apply NoDup_map_on; [apply seq_NoDup | lia].
  - intros v Hv Hv'. apply in_map_iff in Hv as (i & <- & Hi), Hv' as (j & E & Hj). apply in_seq in Hj. lia.
Qed.

Lemma in_interval n v : (Z.abs_nat v <= n)%nat -> In v (interval n).
Proof.
  intros Hv. apply in_or_app. destruct (Z_le_gt_dec 0 v).
  - left. apply in_map_iff. exists (Z.abs_nat v). split; [lia | apply in_seq; lia].
  - right. apply in_map_iff. exists (Z.abs_nat v). split; [lia | apply in_seq; lia].
Qed.

Lemma powers n : forall i, (1 - q) * sum_over (fun j => q ^ j) (seq i n) = q ^ i - q ^ (i + n).
Proof.
  induction n as [|n IH]; intros i; simpl; [rewrite Nat.add_0_r; lra|].
  rewrite Rmult_plus_distr_l, IH. rewrite Nat.add_succ_r. simpl. ring.
Qed.

Lemma interval_sum n : sum_over geometric_mass (interval n) = 1 - 2 * q ^ (S n) / (1 + q).
Proof.
  unfold interval. rewrite sum_over_app, !sum_over_map. unfold geometric_mass.
  rewrite !sum_over_scale.
  rewrite (sum_over_eq _ (fun j => q ^ j) (seq 0 (S n))) by (intros j _; f_equal; lia).
  rewrite (sum_over_eq _ (fun j => q ^ j) (seq 1 n)) by (intros j _; f_equal; lia).
  pose proof (powers (S n) 0) as H0. pose proof (powers n 1) as H1.
  replace (0 + S n)%nat with (S n) in H0 by lia. replace (1 + n)%nat with (S n) in H1 by lia. rewrite pow_O in H0.
  rewrite pow_1 in H1.
  unfold Rdiv. rewrite <- Rmult_plus_distr_l, (Rmult_comm (1 - q)), Rmult_assoc, Rmult_plus_distr_l, H0, H1. field. lra.
Qed.

Lemma bounded_values l : exists n, forall v, In v l -> (Z.abs_nat v <= n)%nat.
Proof.
  induction l as [|v l [n Hn]]; [now exists 0%nat|]. exists (Z.abs_nat v + n)%nat.
  intros w [<-|Hw]; [lia | specialize (Hn w Hw); lia].
Qed.

Lemma geometric_bound l : NoDup l -> sum_over geometric_mass l <= 1.
Proof.
  intros Hl. destruct (bounded_values l) as [n Hn].
  apply Rle_trans with (sum_over geometric_mass (interval n)).
  - apply sum_over_incl; [intros v; left; apply geometric_positive | exact Hl|]. intros v Hv. apply in_interval, Hn, Hv.
  - rewrite interval_sum. assert (0 < q ^ S n) by (apply pow_lt; lra).
    assert (0 < 2 * q ^ S n / (1 + q)) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

Definition geometric : law := Law geometric_mass (fun v => Rlt_le _ _ (geometric_positive v)) geometric_bound.

Lemma geometric_whole : sums_to_one geometric.
Proof.
  apply Rle_antisym; [apply total_le; intros l Hl _; now apply mass_bound|].
  apply Rnot_lt_le. intros Hlt. set (t := total _ _ _) in Hlt.
  destruct (pow_lt_1_zero q ltac:(rewrite Rabs_right; lra) ((1 - t) / 2)) as [n Hn]; [lra|].
  specialize (Hn (S n) ltac:(lia)). rewrite Rabs_right in Hn by (left; apply pow_lt; lra).
  assert (Hle : sum_over geometric (interval n) <= t) by (apply finite_le_total; [apply interval_nodup | easy]).
  change (sum_over geometric_mass (interval n) <= t) in Hle. rewrite interval_sum in Hle.
  assert (2 * q ^ S n / (1 + q) < 2 * q ^ S n); [|lra].
  assert (0 < q ^ S n) by (apply pow_lt; lra).
  apply Rmult_lt_reg_r with (1 + q); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  assert (0 < 2 * q ^ S n * q) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(** Moving by w costs |w| times the logarithm of 1/q. *)
Definition geometric_cost (w : Z) : R := IZR (Z.abs w) * - ln q.

Lemma exp_geometric_cost w : exp (geometric_cost w) = (/ q) ^ Z.abs_nat w.
Proof.
  unfold geometric_cost. rewrite <- ln_Rinv by lra. rewrite <- Zabs2Nat.id_abs, <- INR_IZR_INZ.
  induction (Z.abs_nat w) as [|n IH]; [simpl; now rewrite Rmult_0_l, exp_0|].
  rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, IH, exp_ln by (apply Rinv_0_lt_compat; lra). simpl. ring.
Qed.

Lemma geometric_moved v w : geometric v <= exp (geometric_cost w) * geometric (v + w)%Z.
Proof.
  rewrite exp_geometric_cost. simpl. unfold geometric_mass.
  assert (Hc : 0 < (1 - q) / (1 + q)) by (apply Rdiv_lt_0_compat; lra).
  replace ((/ q) ^ Z.abs_nat w * ((1 - q) / (1 + q) * q ^ Z.abs_nat (v + w)))
    with ((1 - q) / (1 + q) * ((/ q) ^ Z.abs_nat w * q ^ Z.abs_nat (v + w))) by ring.
  apply Rmult_le_compat_l; [lra|].
  apply Rle_trans with ((/ q) ^ Z.abs_nat w * (q ^ (Z.abs_nat w + Z.abs_nat v))).
  - rewrite pow_add, <- Rmult_assoc, <- Rpow_mult_distr, Rinv_l, pow1 by lra. lra.
  - apply Rmult_le_compat_l; [apply pow_le; left; apply Rinv_0_lt_compat; lra|].
    replace (Z.abs_nat w + Z.abs_nat v)%nat with (Z.abs_nat (v + w) + (Z.abs_nat w + Z.abs_nat v - Z.abs_nat (v + w)))%nat by lia.
    rewrite pow_add. rewrite <- (Rmult_1_r (q ^ Z.abs_nat (v + w))) at 2.
    apply Rmult_le_compat_l; [apply pow_le; lra|].
    rewrite <- (pow1 (Z.abs_nat w + Z.abs_nat v - Z.abs_nat (v + w))). apply pow_incr. lra.
Qed.
End Geometric.
