(** The theorems are not empty: known mechanisms satisfy the conditions, with known bounds, and no condition can be left out. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs Alignment WholeProbability Laws.
Import ListNotations.
Open Scope R_scope.

(** A program that draws once and ends. *)
Definition one_draw {O} (l : law) (output : Z -> O) : program O :=
  fun h => match h with
           | [] => Draw l
           | v :: _ => End (output v)
           end.

Lemma law_part_summable (l : law) (E : Z -> Prop) : summable l E.
Proof. exists 1. intros r (k & Hk & _ & ->). now apply mass_bound. Qed.

Lemma one_draw_possible {O} l (f : Z -> O) x : ended (one_draw l f) x -> 0 < weight (one_draw l f) x -> exists v, x = [v].
Proof.
  intros [o Ho] Hw. destruct x as [|v [|w h]]; [discriminate | now exists v |].
  apply weight_positive in Hw as (_ & k & Hk & _). discriminate.
Qed.

Lemma one_draw_probability {O} l (f : Z -> O) S :
  probability (one_draw l f) S = total l (fun v => S (f v)) (law_part_summable l _).
Proof.
  apply Rle_antisym.
  - rewrite <- (Rmult_1_l (total l _ _)).
    apply (total_transport _ _ _ _ _ _ newest); [apply weight_nonneg | lra | |].
    + intros x HS Hw. destruct (one_draw_possible l f x (ends_in_ended _ _ _ HS) Hw) as [v ->].
      destruct HS as (o & Ho & HS). injection Ho as <-. split; [exact HS|]. simpl. unfold step. simpl. lra.
    + intros x y Hx Hy Hwx Hwy. destruct (one_draw_possible l f x (ends_in_ended _ _ _ Hx) Hwx) as [v ->].
      destruct (one_draw_possible l f y (ends_in_ended _ _ _ Hy) Hwy) as [w ->]. simpl. now intros ->.
  - rewrite <- (Rmult_1_l (probability _ _)).
    apply (total_transport _ _ _ _ _ _ (fun v => [v])); [apply mass_nonneg | lra | |].
    + intros v HS _. split; [now exists (f v)|]. simpl. unfold step. simpl. lra.
    + intros v w _ _ _ _ E. now injection E.
Qed.

Lemma one_draw_aligned {O} (l l' : law) (f f' : Z -> O) (s : Z -> Z) (c : Z -> R) eps :
  (forall v, 0 < l v -> f' (v + s v)%Z = f v) ->
  (forall v w, 0 < l v -> 0 < l w -> (v + s v = w + s w)%Z -> v = w) ->
  (forall v, 0 < l v -> 0 < l' (v + s v)%Z) ->
  (forall v, 0 < l v -> l v <= exp (c v) * l' (v + s v)%Z /\ c v <= eps) ->
  aligned (one_draw l f) (one_draw l' f') (fun _ => s) (fun _ => c) (halting (one_draw l f)) eps.
Proof.
  intros Hout Hone Hsupport Hcost.
  assert (Hfirst : forall h v, begins (halting (one_draw l f)) (v :: h) -> h = [] /\ 0 < l v).
  { intros h v [later [Hw He]]. destruct (one_draw_possible l f _ He Hw) as [w E].
    apply app_eq_unit in E as [[-> E] | [_ E]]; [|discriminate]. injection E as -> ->. split; [reflexivity|].
    simpl in Hw. unfold possible, weight, step in Hw. simpl in Hw. lra. }
  repeat split.
  - intros h v k Hh _. destruct (Hfirst h v Hh) as [-> _]. now exists l'.
  - intros x o [Hw He] Ho. destruct (one_draw_possible l f x He Hw) as [v ->].
    destruct (Hfirst [] v (begins_itself _ _ (conj Hw He))) as [_ Hv]. injection Ho as <-. simpl. now rewrite Hout.
  - intros h v w Hv Hw. destruct (Hfirst h v Hv) as [-> Hlv], (Hfirst [] w Hw) as [_ Hlw]. auto.
  - intros h v k Hh Hk. destruct (Hfirst h v Hh) as [-> Hlv]. injection Hk as <-. auto.
  - intros h v k k' Hh Hk Hk' _ _. destruct (Hfirst h v Hh) as [-> Hlv]. injection Hk as <-. injection Hk' as <-. now apply Hcost.
  - intros x [Hw He]. destruct (one_draw_possible l f x He Hw) as [v ->].
    destruct (Hfirst [] v (begins_itself _ _ (conj Hw He))) as [_ Hv]. simpl. rewrite Rplus_0_l. now apply Hcost.
Qed.

(** The probability of single outputs of a coin. *)
Lemma coin_probability p Hp (S : Z -> Prop) v :
  (v = 0 \/ v = 1)%Z -> (forall w, S w <-> w = v) -> probability (one_draw (coin p Hp) (fun w => w)) S = coin_mass p v.
Proof.
  intros Hv HS. rewrite one_draw_probability. apply Rle_antisym.
  - apply total_le. intros l Hl HlS. apply Rle_trans with (sum_over (coin_mass p) [v]); [|simpl; lra].
    apply sum_over_incl; [now apply coin_nonneg | exact Hl|]. intros w Hw. left. symmetry. now apply HS, HlS.
  - replace (coin_mass p v) with (sum_over (coin p Hp) [v]) by (simpl; lra). apply finite_le_total.
    + constructor; [easy | constructor].
    + intros w [<-|[]]. now apply HS.
Qed.

(** Randomized response: the truth with probability 3/4. Its bound is 3, and no less. *)
Lemma truth_chance (b : bool) : 0 <= (if b then 3 / 4 else 1 / 4) <= 1.
Proof. destruct b; lra. Qed.

Definition randomized_response (b : bool) : program Z := one_draw (coin _ (truth_chance b)) (fun v => v).

Theorem randomized_response_private b b' S :
  probability (randomized_response b) S <= 3 * probability (randomized_response b') S.
Proof.
  rewrite <- (exp_ln 3) by lra. apply (theorem_A _ _ (fun _ _ => 0%Z) (fun _ _ => ln 3)).
  apply one_draw_aligned.
  - intros v _. lia.
  - intros v w _ _. lia.
  - intros v. rewrite Z.add_0_r. simpl. unfold coin_mass. destruct b, b', (Z.eq_dec v 1), (Z.eq_dec v 0); lra.
  - intros v _. rewrite Z.add_0_r. split; [|lra]. rewrite exp_ln by lra. simpl. unfold coin_mass.
    destruct b, b', (Z.eq_dec v 1), (Z.eq_dec v 0); lra.
Qed.

Theorem randomized_response_tight :
  probability (randomized_response true) (fun v => v = 1%Z) = 3 / 4
  /\ probability (randomized_response false) (fun v => v = 1%Z) = 1 / 4.
Proof. split; apply (coin_probability _ _ _ 1); auto; easy. Qed.

(** A count with two-sided geometric noise: counts that differ by d cost d times the logarithm of 1/q. *)
Definition noisy_count (q : R) (Hq : 0 < q < 1) (count : Z) : program Z := one_draw (geometric q Hq) (fun v => count + v)%Z.

Theorem noisy_count_private q Hq count count' S :
  probability (noisy_count q Hq count) S <= exp (IZR (Z.abs (count - count')) * - ln q) * probability (noisy_count q Hq count') S.
Proof.
  apply (theorem_A _ _ (fun _ _ => count - count')%Z (fun _ _ => geometric_cost q (count - count'))).
  apply one_draw_aligned.
  - intros v _. lia.
  - intros v w _ _. lia.
  - intros v _. apply geometric_positive, Hq.
  - intros v _. split; [apply geometric_moved | unfold geometric_cost; lra].
Qed.

(** Without any one of the conditions the conclusion is false, already for eps = 0 and programs that draw one coin. *)
Lemma half : 0 <= 1 / 2 <= 1.
Proof. lra. Qed.

Lemma never_one : 0 <= 0 <= 1.
Proof. lra. Qed.

Definition fair : program Z := one_draw (coin _ half) (fun v => v).
Definition constant : program Z := one_draw (coin _ half) (fun _ => 0%Z).
Definition zero : program Z := one_draw (coin _ never_one) (fun v => v).

(** Ends with 1 at once, though it would end with 0 after a draw. *)
Definition hasty : program Z := fun h => match h with [] => End 1%Z | _ => End 0%Z end.

Definition none (_ : history) (_ : Z) : Z := 0%Z.
Definition to_zero (_ : history) (v : Z) : Z := (- v)%Z.
Definition free (_ : history) (_ : Z) : R := 0.
Definition dear (_ : history) (_ : Z) : R := 1.
Definition unsafe (M M' : program Z) : Prop := exists S, ~ probability M S <= exp 0 * probability M' S.

Lemma constant_is_zero : probability constant (fun v => v = 0%Z) = 1.
Proof.
  unfold constant. rewrite one_draw_probability. rewrite <- (coin_whole _ half). unfold sums_to_one. now apply total_ext.
Qed.

Lemma constant_against_fair : unsafe constant fair.
Proof.
  exists (fun v => v = 0%Z). rewrite constant_is_zero, exp_0. unfold fair.
  rewrite (coin_probability _ _ _ 0); [|auto|easy]. unfold coin_mass. simpl. lra.
Qed.

Lemma fair_against_zero : unsafe fair zero.
Proof.
  exists (fun v => v = 1%Z). rewrite exp_0. unfold fair, zero.
  rewrite !(coin_probability _ _ _ 1); [|auto|easy|auto|easy]. unfold coin_mass. simpl. lra.
Qed.

Lemma constant_against_hasty : unsafe constant hasty.
Proof.
  exists (fun v => v = 0%Z). rewrite constant_is_zero, exp_0.
  assert (probability hasty (fun v => v = 0%Z) <= 0); [|lra]. apply total_le. intros l _ HE.
  rewrite sum_over_zero; [lra|]. intros x Hx. destruct (HE x Hx) as (o & Ho & ->).
  destruct x as [|v h]; [discriminate|]. simpl. unfold step. destruct h; simpl; lra.
Qed.

(** What a coin can have drawn. *)
Lemma coin_history p Hp (f : Z -> Z) h v : begins (halting (one_draw (coin p Hp) f)) (v :: h) -> h = [] /\ (v = 0 \/ v = 1)%Z.
Proof.
  intros [later [Hw He]]. destruct (one_draw_possible _ f _ He Hw) as [w E].
  apply app_eq_unit in E as [[-> E] | [_ E]]; [|discriminate]. injection E as -> ->. split; [reflexivity|].
  unfold possible in Hw. simpl in Hw. unfold step, one_draw in Hw. simpl in Hw. unfold coin_mass in Hw.
  destruct (Z.eq_dec w 1), (Z.eq_dec w 0); [auto..|]; lra.
Qed.

Theorem C1_needed : exists M M', C2 M M' none (halting M) /\ C4 none (halting M) /\ C6 M' none (halting M)
  /\ C7 M M' none free (halting M) 0 /\ unsafe M M'.
Proof.
  exists constant, hasty. repeat split.
  - intros x o [Hw He] Ho. destruct (one_draw_possible _ _ _ He Hw) as [v ->]. injection Ho as <-. reflexivity.
  - intros h v w _ _. unfold none. lia.
  - intros h v l' _ E. destruct h; discriminate.
  - intros h v l l' _ _ E. destruct h; discriminate.
  - intros x _. induction x as [|v h IH]; simpl; unfold free in *; lra.
  - apply constant_against_hasty.
Qed.

Lemma coin_C1 p p' Hp Hp' (f f' : Z -> Z) s :
  C1 (one_draw (coin p Hp) f) (one_draw (coin p' Hp') f') s (halting (one_draw (coin p Hp) f)).
Proof. intros h v l Hh _. destruct (coin_history _ _ _ _ _ Hh) as [-> _]. now exists (coin p' Hp'). Qed.

Lemma free_total x : cost free x = 0.
Proof. induction x as [|v h IH]; simpl; unfold free in *; lra. Qed.

Theorem C2_needed : exists M M', C1 M M' none (halting M) /\ C4 none (halting M) /\ C6 M' none (halting M)
  /\ C7 M M' none free (halting M) 0 /\ unsafe M M'.
Proof.
  exists constant, fair. repeat split.
  - apply coin_C1.
  - intros h v w _ _. unfold none. lia.
  - intros h v l' Hh E. destruct (coin_history _ _ _ _ _ Hh) as [-> [-> | ->]]; injection E as <-; simpl; unfold coin_mass;
      simpl; lra.
  - intros h v l l' Hh E E' _ _. destruct (coin_history _ _ _ _ _ Hh) as [-> [-> | ->]]; injection E as <-; injection E' as <-;
      unfold free; rewrite exp_0; simpl; unfold coin_mass; simpl; lra.
  - intros x _. rewrite free_total. lra.
  - apply constant_against_fair.
Qed.

Theorem C4_needed :
  exists M M', C1 M M' to_zero (halting M) /\ C2 M M' to_zero (halting M) /\ C6 M' to_zero (halting M)
    /\ C7 M M' to_zero free (halting M) 0 /\ unsafe M M'.
Proof.
  exists constant, fair. repeat split.
  - apply coin_C1.
  - intros x o [Hw He] Ho. destruct (one_draw_possible _ _ _ He Hw) as [v ->]. injection Ho as <-.
    simpl. unfold to_zero. now rewrite Z.add_opp_diag_r.
  - intros h v l' Hh E. destruct (coin_history _ _ _ _ _ Hh) as [-> [-> | ->]]; injection E as <-; simpl; unfold coin_mass;
      simpl; lra.
  - intros h v l l' Hh E E' _ _. destruct (coin_history _ _ _ _ _ Hh) as [-> [-> | ->]]; injection E as <-; injection E' as <-;
      unfold free; rewrite exp_0; simpl; unfold coin_mass; simpl; lra.
  - intros x _. rewrite free_total. lra.
  - apply constant_against_fair.
Qed.

Theorem C6_needed : exists M M', C1 M M' none (halting M) /\ C2 M M' none (halting M) /\ C4 none (halting M)
  /\ C7 M M' none free (halting M) 0 /\ unsafe M M'.
Proof.
  exists fair, zero. repeat split.
  - apply coin_C1.
  - intros x o [Hw He] Ho. destruct (one_draw_possible _ _ _ He Hw) as [v ->]. injection Ho as <-. simpl. unfold none.
    now rewrite Z.add_0_r.
  - intros h v w _ _. unfold none. lia.
  - intros h v l l' Hh E E' _. destruct (coin_history _ _ _ _ _ Hh) as [-> [-> | ->]]; injection E as <-; injection E' as <-;
      unfold free; rewrite exp_0; simpl; unfold coin_mass; simpl; lra.
  - intros x _. rewrite free_total. lra.
  - apply fair_against_zero.
Qed.

(** Without the sum of the costs, that is with any finite cost. *)
Theorem C7_needed :
  exists M M' s c, C1 M M' s (halting M) /\ C2 M M' s (halting M) /\ C4 s (halting M) /\ C6 M' s (halting M)
    /\ (exists eps, C7 M M' s c (halting M) eps) /\ unsafe M M'.
Proof.
  assert (Hp : 0 <= 3 / 4 <= 1) by lra.
  exists (one_draw (coin _ Hp) (fun v => v)), fair, none, dear. repeat split.
  - apply coin_C1.
  - intros x o [Hw He] Ho. destruct (one_draw_possible _ _ _ He Hw) as [v ->]. injection Ho as <-. simpl. unfold none.
    now rewrite Z.add_0_r.
  - intros h v w _ _. unfold none. lia.
  - intros h v l' Hh E. destruct (coin_history _ _ _ _ _ Hh) as [-> [-> | ->]]; injection E as <-; simpl; unfold coin_mass;
      simpl; lra.
  - exists 1. split.
    + intros h v l l' Hh E E' _ _. pose proof (exp_ineq1 1 ltac:(lra)).
      destruct (coin_history _ _ _ _ _ Hh) as [-> [-> | ->]]; injection E as <-; injection E' as <-;
        unfold dear; simpl; unfold coin_mass; simpl; lra.
    + intros x [Hw He]. destruct (one_draw_possible _ _ _ He Hw) as [v ->]. simpl. unfold dear. lra.
  - exists (fun v => v = 1%Z). rewrite exp_0. unfold fair.
    rewrite !(coin_probability _ _ _ 1); [|auto|easy|auto|easy]. unfold coin_mass. simpl. lra.
Qed.
