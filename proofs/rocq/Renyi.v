(** Theorem D: Renyi divergence of programs whose shifts do not look at the draw that they move.

    That one draw and its moved copy diverge by at most a times their cost is a hypothesis here. For discrete Gaussian noise it is
    a theorem of Canonne, Kamath and Steinke (2020), with cost s^2 / (2 sigma^2). *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs Alignment.
Import ListNotations.
Open Scope R_scope.

Section Order.
Variable a : R.
Hypothesis Ha : 1 < a.

(** p^a q^(1 - a), which is 0 where p is. *)
Definition term (p q : R) : R := if Rlt_dec 0 p then q * Rpower (p / q) a else 0.

Lemma term_nonneg p q : 0 <= q -> 0 <= term p q.
Proof. intros Hq. unfold term. destruct Rlt_dec; [|lra]. apply Rmult_le_pos; [exact Hq | left; apply exp_pos]. Qed.

Lemma term_product p q p' q' :
  0 <= p -> 0 <= p' -> (0 < p -> 0 < q) -> (0 < p' -> 0 < q') -> term (p * p') (q * q') = term p q * term p' q'.
Proof.
  intros Hp Hp' Hq Hq'. unfold term. destruct (Rlt_dec 0 p) as [Hpos|Hz], (Rlt_dec 0 p') as [Hpos'|Hz'].
  - specialize (Hq Hpos). specialize (Hq' Hpos'). destruct Rlt_dec as [|Hno]; [|contradiction Hno; now apply Rmult_lt_0_compat].
    replace (p * p' / (q * q')) with (p / q * (p' / q')) by (field; lra).
    rewrite <- Rpower_mult_distr by (apply Rdiv_lt_0_compat; lra). ring.
  - assert (p' = 0) as -> by lra. rewrite Rmult_0_r. destruct Rlt_dec; lra.
  - assert (p = 0) as -> by lra. rewrite Rmult_0_l. destruct Rlt_dec; lra.
  - assert (p = 0) as -> by lra. rewrite Rmult_0_l. destruct Rlt_dec; lra.
Qed.

Lemma power_above_tangent y : 0 < y -> 1 - a + a * y <= Rpower y a.
Proof.
  intros Hy. unfold Rpower. set (u := ln y). rewrite <- (exp_ln y Hy) at 1. fold u.
  replace (exp (a * u)) with (exp u * exp ((a - 1) * u)) by (rewrite <- exp_plus; f_equal; ring).
  assert (H1 : 1 = exp u * exp (- u)) by (rewrite <- exp_plus, Rplus_opp_r, exp_0; reflexivity).
  assert (Htangent : a <= exp ((a - 1) * u) + (a - 1) * exp (- u)).
  { pose proof (exp_ineq1_le ((a - 1) * u)) as Hfirst. pose proof (exp_ineq1_le (- u)) as Hsecond.
    pose proof (Rmult_le_compat_l (a - 1) _ _ ltac:(lra) Hsecond). lra. }
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (exp_pos u)) Htangent) as Hle.
  rewrite Rmult_plus_distr_l in Hle. replace (exp u * ((a - 1) * exp (- u))) with ((a - 1) * (exp u * exp (- u))) in Hle by ring.
  rewrite <- H1 in Hle. lra.
Qed.

Lemma term_above_tangent p q t :
  0 <= p -> 0 <= q -> (0 < p -> 0 < q) -> 0 < t -> q * (Rpower t a * (1 - a)) + a * (Rpower t a / t) * p <= term p q.
Proof.
  intros Hp Hq Hpq Ht. assert (Hta : 0 < Rpower t a) by apply exp_pos. unfold term. destruct Rlt_dec as [Hpos|Hz].
  - specialize (Hpq Hpos). assert (Hr : 0 < p / q / t) by (repeat apply Rdiv_lt_0_compat; lra).
    replace (p / q) with (p / q / t * t) at 1 by (field; lra). rewrite <- Rpower_mult_distr by assumption.
    pose proof (power_above_tangent _ Hr) as Hle.
    replace (q * (Rpower t a * (1 - a)) + a * (Rpower t a / t) * p) with (q * Rpower t a * (1 - a + a * (p / q / t))) by (field;
      lra).
    replace (q * (Rpower (p / q / t) a * Rpower t a)) with (q * Rpower t a * Rpower (p / q / t) a) by ring.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact Hle].
  - assert (p = 0) as -> by lra. rewrite Rmult_0_r, Rplus_0_r.
    assert (0 <= q * (Rpower t a * (a - 1))) by (apply Rmult_le_pos; [exact Hq | apply Rmult_le_pos; lra]). lra.
Qed.

(** The Renyi divergence of order a of the outputs is at most b: what M may give M' may too, and over any distinct outputs the sum
    of p^a q^(1 - a) is at most e^((a - 1) b). *)
Definition renyi_at_most {O} (M M' : program O) (b : R) : Prop :=
  let p := fun o => probability M (fun x => x = o) in
  let q := fun o => probability M' (fun x => x = o) in
  (forall o, 0 < p o -> 0 < q o)
  /\ forall outputs, NoDup outputs -> sum_over (fun o => term (p o) (q o)) outputs <= exp ((a - 1) * b).

(** A function of earlier draws as one that does not look at the draw itself. *)
Definition whatever_drawn {A} (f : history -> A) (h : history) (_ : Z) : A := f h.

Section TheoremD.
Context {O : Type} (M M' : program O).
Variable shift : history -> Z.
Variable price : history -> R.
Variable rho : R.
Local Notation s := (whatever_drawn shift).
Local Notation c := (whatever_drawn price).

Hypothesis C1_draws : forall h l, possible M h -> M h = Draw l -> exists l', M' (move s h) = Draw l'.
Hypothesis C2_output : forall x o, possible M x -> M x = End o -> M' (move s x) = End o.
Hypothesis C6_moved : forall h l l' v, possible M h -> M h = Draw l -> M' (move s h) = Draw l' -> 0 < l v -> 0 < l' (v + shift h)%Z.
Hypothesis one_step : forall h l l' k, possible M h -> M h = Draw l -> M' (move s h) = Draw l' -> NoDup k ->
  sum_over (fun v => term (l v) (l' (v + shift h)%Z)) k <= exp (a * (a - 1) * price h).
Hypothesis budget : forall x, halting M x -> cost c x <= rho.

Lemma moved_possible x : possible M x -> 0 < weight M' (move s x).
Proof.
  induction x as [|v h IH]; simpl; [lra|]. intros Hx. destruct (weight_positive M v h Hx) as (Hh & l & Hl & Hv).
  destruct (C1_draws h l Hh Hl) as [l' Hl']. unfold step. rewrite Hl'.
  apply Rmult_lt_0_compat; [now apply IH | exact (C6_moved h l l' v Hh Hl Hl' Hv)].
Qed.

Lemma move_one_to_one x y : move s x = move s y -> x = y.
Proof.
  revert y. induction x as [|v h IH]; intros [|w k]; simpl; intros E; try discriminate; [reflexivity|].
  injection E as Ev Eh. rewrite (IH k Eh) in *. unfold whatever_drawn in Ev. f_equal. lia.
Qed.

Definition trace_term (x : history) : R := term (weight M x) (weight M' (move s x)).

(** The a-th power of the ratio, less what was paid for: it shrinks on average. *)
Definition unpaid (x : history) : R := trace_term x * exp (- (a * (a - 1) * cost c x)).

Lemma trace_term_nonneg x : 0 <= trace_term x.
Proof. apply term_nonneg, weight_nonneg. Qed.

Lemma unpaid_nonneg x : 0 <= unpaid x.
Proof. apply Rmult_le_pos; [apply trace_term_nonneg | left; apply exp_pos]. Qed.

Lemma impossible_term x : ~ possible M x -> trace_term x = 0.
Proof. intros Hx. unfold trace_term, term. now destruct Rlt_dec. Qed.

Lemma unpaid_shrinks h k : NoDup k -> sum_over (fun v => unpaid (v :: h)) k <= if draws M h then unpaid h else 0.
Proof.
  intros Hk. destruct (Rlt_dec 0 (weight M h)) as [Hh|Hh].
  2:{ rewrite sum_over_zero; [destruct (draws M h); [apply unpaid_nonneg | lra]|]. intros v _. unfold unpaid.
      rewrite impossible_term; [lra|]. intros Hx. now apply (weight_positive M v h) in Hx as [Hx _]. }
  unfold draws. destruct (M h) as [l|o] eqn:Hl.
  2:{ rewrite sum_over_zero; [lra|]. intros v _. unfold unpaid. rewrite impossible_term; [lra|].
      intros Hx. apply (weight_positive M v h) in Hx as (_ & l & E & _). congruence. }
  destruct (C1_draws h l Hh Hl) as [l' Hl'].
  assert (Hmoved : forall v, unpaid (v :: h) = unpaid h * exp (- (a * (a - 1) * price h)) * term (l v) (l' (v + shift h)%Z)).
  { intros v. unfold unpaid, trace_term.
    replace (weight M (v :: h)) with (weight M h * l v) by (simpl; unfold step; now rewrite Hl).
    replace (weight M' (move s (v :: h))) with (weight M' (move s h) * l' (v + shift h)%Z) by (simpl; unfold step; now rewrite Hl').
    change (cost c (v :: h)) with (cost c h + price h).
    rewrite (term_product (weight M h) (weight M' (move s h)) (l v) (l' (v + shift h)%Z)).
    - replace (- (a * (a - 1) * (cost c h + price h))) with (- (a * (a - 1) * cost c h) + - (a * (a - 1) * price h)) by ring.
      rewrite exp_plus. ring.
    - apply weight_nonneg.
    - apply mass_nonneg.
    - intros _. now apply moved_possible.
    - intros Hv. exact (C6_moved h l l' v Hh Hl Hl' Hv). }
  rewrite (sum_over_eq _ (fun v => unpaid h * exp (- (a * (a - 1) * price h)) * term (l v) (l' (v + shift h)%Z))) by (intros;
    apply Hmoved).
  rewrite sum_over_scale. pose proof (one_step h l l' k Hh Hl Hl' Hk) as Hstep.
  rewrite <- (Rmult_1_r (unpaid h)) at 2. rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply unpaid_nonneg|].
  apply Rle_trans with (exp (- (a * (a - 1) * price h)) * exp (a * (a - 1) * price h)).
  - apply Rmult_le_compat_l; [left; apply exp_pos | exact Hstep].
  - rewrite <- exp_plus, Rplus_opp_l, exp_0. lra.
Qed.

Lemma trace_terms_bound l : NoDup l -> (forall x, In x l -> ended M x) -> sum_over trace_term l <= exp ((a - 1) * (a * rho)).
Proof.
  intros Hl HE. apply Rle_trans with (sum_over (fun x => exp ((a - 1) * (a * rho)) * unpaid x) l).
  - apply sum_over_le. intros x Hx. destruct (Rlt_dec 0 (weight M x)) as [Hw|Hw].
    2:{ rewrite impossible_term by exact Hw. apply Rmult_le_pos; [left; apply exp_pos | apply unpaid_nonneg]. }
    unfold unpaid. rewrite Rmult_comm, Rmult_assoc, <- exp_plus. rewrite <- (Rmult_1_r (trace_term x)) at 1.
    apply Rmult_le_compat_l; [apply trace_term_nonneg|].
    apply Rle_trans with (exp 0); [rewrite exp_0; lra|].
    assert (Hle : 0 <= (a - 1) * a * (rho - cost c x)).
    { apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. pose proof (budget x (conj Hw (HE x Hx))). lra. }
    apply Rle_trans with (exp ((a - 1) * a * (rho - cost c x))); [|right; f_equal; ring].
    destruct Hle as [Hlt | E]; [left; now apply exp_increasing | rewrite <- E; lra].
  - rewrite sum_over_scale. rewrite <- (Rmult_1_r (exp _)) at 2. apply Rmult_le_compat_l; [left; apply exp_pos|].
    replace 1 with (unpaid []).
    2:{ unfold unpaid, trace_term, term. simpl. destruct Rlt_dec; [|lra]. replace (1 / 1) with 1 by field.
        unfold Rpower. rewrite ln_1, !Rmult_0_r, Ropp_0, exp_0. ring. }
    apply (ended_total unpaid (draws M) unpaid_nonneg unpaid_shrinks l Hl). intros x Hx. now apply ended_draws, HE.
Qed.

Lemma trace_terms_summable (E : history -> Prop) : (forall x, E x -> ended M x) -> summable trace_term E.
Proof. intros HE. exists (exp ((a - 1) * (a * rho))). intros r (l & Hl & HlE & ->). apply trace_terms_bound; auto. Qed.

(** The terms of all traces with an output add up to at least the term of the output: powers are convex. *)
Lemma merged o H : term (probability M (fun x => x = o)) (probability M' (fun x => x = o))
  <= total trace_term (ends_in M (fun x => x = o)) H.
Proof.
  set (p := probability M _). set (q := probability M' _). unfold term. destruct Rlt_dec as [Hp|]; [|apply total_nonneg].
  assert (Hq : forall l, NoDup l -> (forall x, In x l -> ends_in M (fun y => y = o) x /\ possible M x) ->
    sum_over (fun x => weight M' (move s x)) l <= q).
  { intros l Hl HE. rewrite <- (sum_over_map (move s) (weight M')). apply finite_le_total.
    - apply NoDup_map_on; [exact Hl | intros x y _ _; apply move_one_to_one].
    - intros y Hy. apply in_map_iff in Hy as (x & <- & Hx). destruct (HE x Hx) as [(u & Hu & ->) Hw]. exists o.
      split; [|reflexivity].
      now apply C2_output. }
  pose (positive := fun x => if Rlt_dec 0 (weight M x) then true else false).
  assert (Hpositive : forall l, (forall x, In x l -> ends_in M (fun y => y = o) x) -> forall x, In x (filter positive l) ->
    ends_in M (fun y => y = o) x /\ possible M x).
  { intros l HE x Hx. apply filter_In in Hx as [Hx Hw]. split; [auto|]. unfold positive in Hw. now destruct Rlt_dec. }
  assert (Hweight : forall l, sum_over (weight M) l = sum_over (weight M) (filter positive l)).
  { intros l. apply sum_over_filter. intros x _ Hx. unfold positive in Hx. destruct Rlt_dec; [discriminate|].
    pose proof (weight_nonneg M x). lra. }
  assert (Hqpos : 0 < q).
  { destruct (total_near (weight M) _ (ended_summable M _ (ends_in_ended M (fun x => x = o))) p Hp) as (l & Hl & HE & Hnear).
    fold (probability M (fun x => x = o)) p in Hnear. rewrite Hweight in Hnear. pose proof (Hpositive l HE) as HF.
    destruct (filter positive l) as [|x rest] eqn:E; [simpl in Hnear; lra|].
    destruct (HF x (or_introl eq_refl)) as [Hx Hw].
    assert (Hle : sum_over (fun y => weight M' (move s y)) [x] <= q).
    { apply Hq; [constructor; [easy | constructor] | intros y [<-|[]]; auto]. }
    pose proof (moved_possible x Hw). simpl in Hle. lra. }
  set (t := p / q). assert (Ht : 0 < t) by (apply Rdiv_lt_0_compat; lra). assert (Hta : 0 < Rpower t a) by apply exp_pos.
  set (slope := a * (Rpower t a / t)). assert (Hslope : 0 < slope).
  { apply Rmult_lt_0_compat; [lra | now apply Rdiv_lt_0_compat]. }
  assert (Hp' : p <= (total trace_term (ends_in M (fun x => x = o)) H - q * (Rpower t a * (1 - a))) / slope).
  { apply total_le. intros l Hl HE. apply Rmult_le_reg_r with slope; [exact Hslope|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite Hweight.
    pose proof (Hpositive l HE) as HF. set (good := filter positive l) in *. assert (Hgood : NoDup good) by now apply NoDup_filter.
    assert (Htotal : sum_over trace_term good <= total trace_term (ends_in M (fun x => x = o)) H).
    { apply finite_le_total; [exact Hgood|]. intros x Hx. now apply HF. }
    assert (Htangent : Rpower t a * (1 - a) * sum_over (fun x => weight M' (move s x)) good + slope * sum_over (weight M) good
                       <= sum_over trace_term good).
    { rewrite <- !sum_over_scale, <- sum_over_plus. apply sum_over_le. intros x Hx. destruct (HF x Hx) as [_ Hw].
      pose proof (term_above_tangent (weight M x) (weight M' (move s x)) t (weight_nonneg M x) (weight_nonneg M' _)
                    (fun H => moved_possible x H) Ht) as Hle.
      unfold trace_term, slope. lra. }
    pose proof (Hq good Hgood HF) as Hsum.
    assert (Rpower t a * (a - 1) * sum_over (fun x => weight M' (move s x)) good <= Rpower t a * (a - 1) * q).
    { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact Hsum]. }
    lra. }
  pose proof (Rmult_le_compat_r slope _ _ (Rlt_le _ _ Hslope) Hp') as Hle.
  unfold Rdiv at 1 in Hle. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in Hle by lra.
  assert (Hpt : p * slope = a * (q * Rpower t a)) by (unfold slope, t; field; split; lra).
  rewrite Hpt in Hle. fold t. lra.
Qed.

(** If the costs of the draws of every halting run add up to at most rho, the divergence of order a is at most a rho. *)
Theorem theorem_D : renyi_at_most M M' (a * rho).
Proof.
  assert (HE : forall o, summable trace_term (ends_in M (fun x => x = o))).
  { intros o. apply trace_terms_summable. intros x. apply ends_in_ended. }
  split.
  - intros o Hp. destruct (Rlt_dec 0 (probability M' (fun x => x = o))) as [|Hno]; [assumption|].
    destruct (total_near (weight M) _ (ended_summable M _ (ends_in_ended M (fun x => x = o))) _ Hp) as (l & Hl & HlE & Hnear).
    fold (probability M (fun x => x = o)) in Hnear. rewrite Rminus_diag_eq in Hnear by reflexivity.
    exfalso. rewrite (sum_over_zero _ l) in Hnear; [lra|]. intros x Hx. destruct (HlE x Hx) as (u & Hu & ->).
    destruct (Rle_lt_or_eq_dec _ _ (weight_nonneg M x)) as [Hw | <-]; [|reflexivity].
    assert (Hle : sum_over (weight M') [move s x] <= probability M' (fun x => x = o)).
    { apply finite_le_total; [constructor; [easy | constructor]|]. intros y [<-|[]]. exists o.
      split; [now apply C2_output | reflexivity]. }
    pose proof (moved_possible x Hw). simpl in Hle. lra.
  - intros outputs Houtputs.
    apply Rle_trans with (sum_over (fun o => total trace_term (ends_in M (fun x => x = o)) (HE o)) outputs).
    + apply sum_over_le. intros o _. apply merged.
    + apply Rle_trans with (total trace_term (ended M) (trace_terms_summable (ended M) (fun x H => H))).
      * apply totals_of_parts; [exact Houtputs | |].
        -- intros o x _ Hx. exact (ends_in_ended M _ x Hx).
        -- intros o u x (y & Hy & ->) (z & Hz & ->). rewrite Hy in Hz. now injection Hz.
      * apply total_le. apply trace_terms_bound.
Qed.
End TheoremD.
End Order.
