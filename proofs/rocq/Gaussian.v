(** Theorem D is not empty: discrete Gaussian noise meets its one-draw hypothesis at every integer order, with equality in the
    exponent.

    With k = 1 / (2 sigma^2) the mass of v is proportional to exp (- k v^2). *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs Alignment Renyi WholeProbability Laws Examples.
Import ListNotations.
Open Scope R_scope.

Section Gaussian.
Variable k : R.
Hypothesis Hk : 0 < k.

Definition bell (v : Z) : R := exp (- (k * IZR (v * v))).

Lemma base : 0 < exp (- k) < 1.
Proof. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. Qed.

(** v^2 is at least |v|, so geometric noise bounds the tails. *)
Lemma bell_below_geometric v : bell v <= (1 + exp (- k)) / (1 - exp (- k)) * geometric_mass (exp (- k)) v.
Proof.
  pose proof base as Hb. unfold geometric_mass.
  replace ((1 + exp (- k)) / (1 - exp (- k)) * ((1 - exp (- k)) / (1 + exp (- k)) * exp (- k) ^ Z.abs_nat v))
    with (exp (- k) ^ Z.abs_nat v) by (field; lra).
  assert (Hpow : forall n, exp (- k) ^ n = exp (- (k * INR n))).
  { induction n as [|n IH]; [simpl; now rewrite Rmult_0_r, Ropp_0, exp_0|].
    rewrite S_INR. simpl. rewrite IH, <- exp_plus. f_equal. ring. }
  rewrite Hpow, INR_IZR_INZ, Zabs2Nat.id_abs. unfold bell.
  assert (Hle : k * IZR (Z.abs v) <= k * IZR (v * v)) by (apply Rmult_le_compat_l; [lra | apply IZR_le; nia]).
  destruct (Rle_lt_or_eq_dec _ _ Hle) as [Hlt | ->]; [left; apply exp_increasing; lra | lra].
Qed.

Lemma bell_summable : summable bell (fun _ => True).
Proof.
  exists ((1 + exp (- k)) / (1 - exp (- k))). intros r (l & Hl & _ & ->). pose proof base as Hb.
  apply Rle_trans with (sum_over (fun v => (1 + exp (- k)) / (1 - exp (- k)) * geometric_mass (exp (- k)) v) l).
  - apply sum_over_le. intros v _. apply bell_below_geometric.
  - rewrite sum_over_scale. pose proof (geometric_bound (exp (- k)) base l Hl) as Hle.
    rewrite <- (Rmult_1_r (_ / _)) at 2. apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra | exact Hle].
Qed.

(** The sum of the curve, by which it is divided. *)
Definition whole : R := total bell (fun _ => True) bell_summable.

Lemma whole_positive : 0 < whole.
Proof.
  apply Rlt_le_trans with (sum_over bell [0%Z]).
  - simpl. pose proof (exp_pos (- (k * IZR (0 * 0)))). unfold bell. lra.
  - apply finite_le_total; [constructor; [easy | constructor] | easy].
Qed.

Definition gaussian_mass (v : Z) : R := / whole * bell v.

Lemma gaussian_positive v : 0 < gaussian_mass v.
Proof. apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat, whole_positive | apply exp_pos]. Qed.

Lemma gaussian_bound l : NoDup l -> sum_over gaussian_mass l <= 1.
Proof.
  intros Hl. unfold gaussian_mass. rewrite sum_over_scale. pose proof whole_positive as Hw.
  rewrite <- (Rinv_l whole) by lra. apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat | now apply finite_le_total].
Qed.

Definition gaussian : law := Law gaussian_mass (fun v => Rlt_le _ _ (gaussian_positive v)) gaussian_bound.

Lemma gaussian_whole : sums_to_one gaussian.
Proof.
  pose proof whole_positive as Hw. unfold sums_to_one.
  destruct (total_scale bell (fun _ => True) bell_summable (/ whole)) as [H E]; [left; now apply Rinv_0_lt_compat|].
  fold whole in E. rewrite Rinv_l in E by lra. rewrite <- E. now apply total_ext.
Qed.

(** The one-draw hypothesis: completing the square turns the term into the mass of another integer. *)
Lemma gaussian_term (n w v : Z) :
  term (IZR n) (gaussian v) (gaussian (v + w)%Z) = exp (IZR n * (IZR n - 1) * (k * IZR (w * w))) * gaussian (v + (1 - n) * w)%Z.
Proof.
  assert (Hm : IZR (1 - n) = 1 - IZR n) by apply minus_IZR. set (m := (1 - n)%Z) in *. clearbody m.
  pose proof whole_positive as Hw. unfold term. pose proof (gaussian_positive v) as Hv.
  destruct Rlt_dec as [_|Hno]; [|contradiction Hno]. simpl. unfold gaussian_mass.
  replace (/ whole * bell v / (/ whole * bell (v + w)%Z)) with (exp (k * IZR ((v + w) * (v + w)) - k * IZR (v * v))).
  2:{ unfold bell. set (x := k * IZR (v * v)). set (y := k * IZR ((v + w) * (v + w))).
      replace (y - x) with (- x + - - y) by ring. rewrite exp_plus, (exp_Ropp (- y)).
      pose proof (exp_pos (- y)). field. split; lra. }
  unfold Rpower. rewrite ln_exp. unfold bell.
  rewrite Rmult_assoc, <- exp_plus, (Rmult_comm (exp _)), Rmult_assoc, <- exp_plus. apply f_equal, f_equal.
  rewrite !mult_IZR, !plus_IZR, !mult_IZR, Hm. ring.
Qed.

Lemma gaussian_one_step (n w : Z) l : NoDup l ->
  sum_over (fun v => term (IZR n) (gaussian v) (gaussian (v + w)%Z)) l <= exp (IZR n * (IZR n - 1) * (k * IZR (w * w))).
Proof.
  intros Hl. rewrite (sum_over_eq _ _ l (fun v _ => gaussian_term n w v)), sum_over_scale.
  rewrite <- (Rmult_1_r (exp _)) at 2. apply Rmult_le_compat_l; [left; apply exp_pos|].
  rewrite <- (sum_over_map (fun v => v + (1 - n) * w)%Z gaussian). apply mass_bound.
  apply NoDup_map_on; [exact Hl | lia].
Qed.

(** A count with discrete Gaussian noise: at integer orders n counts that differ by d diverge by at most n d^2 / (2 sigma^2). *)
Theorem gaussian_count_private (n count count' : Z) : (1 < n)%Z ->
  renyi_at_most (IZR n) (one_draw gaussian (fun v => count + v)%Z) (one_draw gaussian (fun v => count' + v)%Z)
    (IZR n * (k * IZR ((count - count') * (count - count')))).
Proof.
  intros Hn. set (M := one_draw gaussian _). set (M' := one_draw gaussian _). set (d := (count - count')%Z).
  apply (theorem_D (IZR n) (IZR_lt 1 n Hn) M M' (fun _ => d) (fun _ => k * IZR (d * d))).
  - intros [|v h] l Hh Hl; [now exists gaussian | discriminate].
  - intros [|v h] o Hx Ho; [discriminate|]. injection Ho as <-. simpl. unfold whatever_drawn. f_equal. lia.
  - intros [|w h] l l' v Hh Hl Hl' _; [injection Hl' as <-; apply gaussian_positive | discriminate].
  - intros [|w h] l l' vs Hh Hl Hl' Hvs; [|discriminate]. injection Hl as <-. injection Hl' as <-. now apply gaussian_one_step.
  - intros x [Hw He]. destruct (one_draw_possible _ _ x He Hw) as [v ->]. simpl. unfold whatever_drawn. lra.
Qed.
End Gaussian.
