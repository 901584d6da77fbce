(** Adaptive composition: a second program that depends on the output of the first. With a second program that sees no data this
    is the rule of post-processing, drawn or not. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs.
Import ListNotations.
Open Scope R_scope.

(** Every statement is true or false: needed to group traces by outputs of any type. Follows from the axioms of the reals. *)
Definition decide (P : Prop) : {P} + {~ P} :=
  match ClassicalDedekindReals.sig_not_dec P with
  | left H => left (Classical_Prop.NNPP P H)
  | right H => right H
  end.

(** The mean of a function of the output, 0 where the program does not end. *)
Section Expectation.
Context {O : Type}.
Variable g : O -> R.
Hypothesis Hg : forall o, 0 <= g o <= 1.

Definition value (M : program O) (x : history) : R :=
  match M x with
  | End o => g o * weight M x
  | Draw _ => 0
  end.

Lemma value_bounds M x : 0 <= value M x <= weight M x.
Proof.
  unfold value. pose proof (weight_nonneg M x) as Hw. destruct (M x) as [|o]; [lra|]. destruct (Hg o) as [H0 H1].
  split; [now apply Rmult_le_pos|]. rewrite <- (Rmult_1_l (weight M x)) at 2. now apply Rmult_le_compat_r.
Qed.

Lemma value_summable M (E : history -> Prop) : (forall x, E x -> ended M x) -> summable (value M) E.
Proof.
  intros HE. exists 1. intros r (l & Hl & HlE & ->). apply Rle_trans with (sum_over (weight M) l).
  - apply sum_over_le. intros x _. apply value_bounds.
  - apply ended_bound; auto.
Qed.

Definition mean (M : program O) : R := total (value M) (ended M) (value_summable M (ended M) (fun x H => H)).

(** Where all probabilities are at most k times as large, so are all means. *)
Lemma mean_bound M M' k :
  0 <= k -> (forall S, probability M S <= k * probability M' S) -> mean M <= k * mean M'.
Proof.
  intros Hk HS. apply total_le. intros l Hl HE.
  pose (output := fun x => match M x with End o => Some o | Draw _ => None end).
  pose (dec := fun a b : option O => decide (a = b)).
  pose (part := fun (a : option O) x => exists o, a = Some o /\ M' x = End o).
  assert (Hpart : forall a, summable (value M') (part a)).
  { intros a. apply value_summable. intros x (o & _ & Ho). now exists o. }
  rewrite (sum_over_groups dec output (value M) l (nodup dec (map output l)) (NoDup_nodup _ _)).
  2:{ intros a Ha. now apply nodup_In. }
  apply Rle_trans with (sum_over (fun a => k * total (value M') (part a) (Hpart a)) (nodup dec (map output l))).
  - apply sum_over_le. intros a Ha. apply nodup_In, in_map_iff in Ha as (y & Hy & Hyl). destruct (HE y Hyl) as [o Ho].
    unfold output in Hy. rewrite Ho in Hy. subst a.
    assert (Hgroup : forall x, In x (filter (with_key dec output (Some o)) l) -> M x = End o).
    { intros x Hx. apply filter_In in Hx as [_ Hx]. unfold with_key in Hx. destruct dec as [E|]; [|discriminate].
      unfold output in E. destruct (M x) as [|p]; [discriminate|]. now injection E as ->. }
    rewrite (sum_over_eq _ (fun x => g o * weight M x)) by (intros x Hx; unfold value; now rewrite (Hgroup x Hx)).
    rewrite sum_over_scale. destruct (Hg o) as [H0 _].
    assert (Hsingle : sum_over (weight M) (filter (with_key dec output (Some o)) l) <= k * probability M' (fun p => p = o)).
    { apply Rle_trans with (probability M (fun p => p = o)); [|apply HS].
      apply finite_le_total; [now apply NoDup_filter|]. intros x Hx. exists o. split; [now apply Hgroup | reflexivity]. }
    apply Rle_trans with (1 := Rmult_le_compat_l _ _ _ H0 Hsingle).
    destruct (total_scale (weight M') (ends_in M' (fun p => p = o)) (ended_summable _ _ (ends_in_ended M' _)) (g o) H0) as [H' E].
    fold (probability M' (fun p => p = o)) in E.
    rewrite <- Rmult_assoc, (Rmult_comm (g o)), Rmult_assoc, <- E. right. f_equal. apply total_ext.
    + intros x. split.
      * intros (p & Hp & ->). now exists o.
      * intros (p & Hp & Hx). injection Hp as <-. now exists o.
    + intros x (p & Hp & ->). unfold value. now rewrite Hp.
  - rewrite sum_over_scale. apply Rmult_le_compat_l; [exact Hk|]. apply totals_of_parts.
    + apply NoDup_nodup.
    + intros a x _ (o & _ & Ho). now exists o.
    + intros a b x (o & -> & Ho) (p & -> & Hp). rewrite Ho in Hp. now injection Hp as ->.
Qed.
End Expectation.

Section Sequence.
Context {O U : Type} (M : program O) (K : O -> program U).

Definition fresh (x : history) : option (O * history) :=
  match M x with
  | End o => Some (o, [])
  | Draw _ => None
  end.

(** The output of M, and the draws that were made after it. *)
Fixpoint phase (x : history) : option (O * history) :=
  match x with
  | [] => fresh []
  | v :: h => match phase h with
              | Some (o, later) => Some (o, v :: later)
              | None => fresh (v :: h)
              end
  end.

(** First M, then K with the output of M. *)
Definition and_then : program U :=
  fun x => match phase x with
           | Some (o, later) => K o later
           | None => match M x with
                     | Draw l => Draw l
                     | End o => K o []
                     end
           end.

Lemma no_phase x : phase x = None -> (exists l, M x = Draw l) /\ weight and_then x = weight M x.
Proof.
  induction x as [|v h IH]; simpl.
  - unfold fresh. destruct (M []) as [l|]; [|discriminate]. intros _. split; [now exists l | reflexivity].
  - destruct (phase h) as [[o later]|] eqn:Hh; [discriminate|]. unfold fresh. destruct (M (v :: h)) as [l|]; [|discriminate].
    intros _. destruct (IH eq_refl) as [[k Hk] Hw]. split; [now exists l|]. rewrite Hw. unfold step, and_then. now rewrite Hh, Hk.
Qed.

Lemma some_phase x o later :
  phase x = Some (o, later) -> exists e, x = later ++ e /\ M e = End o /\ weight and_then x = weight M e * weight (K o) later.
Proof.
  revert later. induction x as [|v h IH]; simpl; intros later.
  - unfold fresh. destruct (M []) as [|p] eqn:E; [discriminate|]. intros H. injection H as -> <-. exists []. simpl.
    repeat split; [exact E | lra].
  - destruct (phase h) as [[p l]|] eqn:Hh.
    + intros H. injection H as -> <-. destruct (IH l eq_refl) as (e & -> & He & Hw). exists e. repeat split; [exact He|].
      simpl. rewrite Hw. unfold step, and_then. rewrite Hh. ring.
    + unfold fresh. destruct (M (v :: h)) as [|p] eqn:E; [discriminate|]. intros H. injection H as -> <-.
      destruct (no_phase h Hh) as [[k Hk] Hw]. exists (v :: h). repeat split; [exact E|]. simpl.
      rewrite Hw. unfold step, and_then. rewrite Hh, Hk. ring.
Qed.

Lemma phase_while_drawing v h : 0 < weight M (v :: h) -> phase h = None.
Proof.
  revert v. induction h as [|w k IH]; intros v Hw; destruct (weight_positive M _ _ Hw) as (Hh & l & Hl & _); simpl.
  - unfold fresh. now rewrite Hl.
  - rewrite (IH w Hh). unfold fresh. now rewrite Hl.
Qed.

Lemma phase_after e o later : 0 < weight M e -> M e = End o -> phase (later ++ e) = Some (o, later).
Proof.
  intros Hw Ho. induction later as [|v later IH]; simpl; [|now rewrite IH].
  destruct e as [|v h]; simpl; [unfold fresh; now rewrite Ho|]. rewrite (phase_while_drawing v h Hw). unfold fresh. now rewrite Ho.
Qed.

(** The history at which M ended. *)
Definition earlier (x : history) : history :=
  match phase x with
  | Some (_, later) => skipn (length later) x
  | None => x
  end.

Definition afterwards (x : history) : history :=
  match phase x with
  | Some (_, later) => later
  | None => []
  end.

Lemma ending_phase S x : ends_in and_then S x ->
  exists o, phase x = Some (o, afterwards x) /\ M (earlier x) = End o /\ x = afterwards x ++ earlier x
            /\ ends_in (K o) S (afterwards x) /\ weight and_then x = weight M (earlier x) * weight (K o) (afterwards x).
Proof.
  intros (u & Hu & HS). destruct (phase x) as [[o later]|] eqn:Hx.
  - destruct (some_phase x o later Hx) as (e & E & He & Hw). exists o. unfold afterwards, earlier. rewrite Hx.
    assert (Hskip : skipn (length later) x = e).
    { rewrite E, skipn_app, skipn_all, Nat.sub_diag. reflexivity. }
    rewrite Hskip. repeat split; auto. exists u. split; [|exact HS]. unfold and_then in Hu. now rewrite Hx in Hu.
  - destruct (no_phase x Hx) as [[l Hl] _]. unfold and_then in Hu. now rewrite Hx, Hl in Hu.
Qed.

(** The probability of an output of both is the mean, over outputs of the first, of its probability under the second. *)
Lemma sequence_probability S :
  probability and_then S = mean (fun o => probability (K o) S) (fun o => probability_range (K o) S) M.
Proof.
  apply Rle_antisym.
  - apply total_le. intros l Hl HE.
    pose (dec := same_history).
    rewrite (sum_over_groups dec earlier (weight and_then) l (nodup dec (map earlier l)) (NoDup_nodup _ _)).
    2:{ intros e He. now apply nodup_In. }
    apply Rle_trans with (sum_over (value (fun o => probability (K o) S) M) (nodup dec (map earlier l))).
    + apply sum_over_le. intros e He. apply nodup_In, in_map_iff in He as (y & Hy & Hyl).
      destruct (ending_phase S y (HE y Hyl)) as (o & _ & Ho & _). rewrite Hy in Ho. unfold value. rewrite Ho.
      set (group := filter (with_key dec earlier e) l).
      assert (Hgroup : forall x, In x group -> In x l /\ earlier x = e).
      { intros x Hx. apply filter_In in Hx as [Hx Hk]. split; [exact Hx|]. unfold with_key in Hk. now destruct dec. }
      assert (Hsame : forall x, In x group -> x = afterwards x ++ e /\ ends_in (K o) S (afterwards x)
                /\ weight and_then x = weight M e * weight (K o) (afterwards x)).
      { intros x Hx. destruct (Hgroup x Hx) as [Hxl Hxe]. destruct (ending_phase S x (HE x Hxl)) as (p & _ & Hp & E & HS & Hw).
        rewrite Hxe in *. rewrite Ho in Hp. injection Hp as <-. auto. }
      rewrite (sum_over_eq _ (fun x => weight M e * weight (K o) (afterwards x))) by (intros x Hx; now apply Hsame).
      rewrite sum_over_scale, Rmult_comm. apply Rmult_le_compat_r; [apply weight_nonneg|].
      rewrite <- (sum_over_map afterwards (weight (K o))). apply finite_le_total.
      * apply NoDup_map_on; [now apply NoDup_filter|]. intros x z Hx Hz E.
        destruct (Hsame x Hx) as [-> _], (Hsame z Hz) as [-> _]. congruence.
      * intros h Hh. apply in_map_iff in Hh as (x & <- & Hx). now apply Hsame.
    + apply finite_le_total; [apply NoDup_nodup|]. intros e He. apply nodup_In, in_map_iff in He as (x & <- & Hx).
      destruct (ending_phase S x (HE x Hx)) as (o & _ & Ho & _). now exists o.
  - apply total_le. intros l Hl HE.
    pose (part := fun e x => ends_in and_then S x /\ earlier x = e).
    assert (Hpart : forall e, summable (weight and_then) (part e)).
    { intros e. apply ended_summable. intros x [Hx _]. exact (ends_in_ended _ S x Hx). }
    apply Rle_trans with (sum_over (fun e => total (weight and_then) (part e) (Hpart e)) l).
    + apply sum_over_le. intros e He. destruct (HE e He) as [o Ho]. unfold value. rewrite Ho.
      destruct (Rle_lt_or_eq_dec _ _ (weight_nonneg M e)) as [Hw | <-]; [|rewrite Rmult_0_r; apply total_nonneg].
      apply Rmult_le_reg_r with (/ weight M e); [now apply Rinv_0_lt_compat|].
      rewrite Rmult_assoc, Rinv_r, Rmult_1_r, Rmult_comm by lra.
      apply (total_transport _ _ _ _ _ _ (fun later => later ++ e)).
      * apply weight_nonneg.
      * left. now apply Rinv_0_lt_compat.
      * intros later (u & Hu & HS) _. pose proof (phase_after e o later Hw Ho) as Hphase. split; [split|].
        -- exists u. split; [|exact HS]. unfold and_then. now rewrite Hphase.
        -- unfold earlier. rewrite Hphase, skipn_app, skipn_all, Nat.sub_diag. reflexivity.
        -- destruct (some_phase _ _ _ Hphase) as (e' & E & _ & ->). apply app_inv_head in E as <-.
           right. field. lra.
      * intros x y _ _ _ _ E. now apply app_inv_tail in E.
    + apply totals_of_parts; [exact Hl | now intros e x _ [Hx _] | intros e f x [_ <-] [_ <-]; reflexivity].
Qed.
End Sequence.

(** Adaptive composition: if M costs a, and the second program costs b whatever the output of M, both together cost a + b. *)
Theorem composition {O U} (M M' : program O) (K K' : O -> program U) a b :
  (forall S, probability M S <= exp a * probability M' S) ->
  (forall o S, probability (K o) S <= exp b * probability (K' o) S) ->
  forall S, probability (and_then M K) S <= exp (a + b) * probability (and_then M' K') S.
Proof.
  intros HM HK S. rewrite !sequence_probability, exp_plus.
  assert (Hsecond : mean (fun o => probability (K o) S) (fun o => probability_range (K o) S) M
                    <= exp b * mean (fun o => probability (K' o) S) (fun o => probability_range (K' o) S) M).
  { apply (total_transport _ _ _ _ _ _ (fun x => x)).
    - intros x. exact (proj1 (value_bounds _ (fun o => probability_range (K o) S) M x)).
    - left. apply exp_pos.
    - intros x Hx _. split; [exact Hx|]. unfold value. destruct (M x) as [|o]; [lra|].
      rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply weight_nonneg | apply HK].
    - auto. }
  pose proof (mean_bound (fun o => probability (K' o) S) (fun o => probability_range (K' o) S) M M' (exp a)
                (Rlt_le _ _ (exp_pos a)) HM) as Hfirst.
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (exp_pos b)) Hfirst). lra.
Qed.

(** Post-processing: what a program without data does to the output, with draws of its own or none, costs nothing. *)
Theorem post_processing {O U} (M M' : program O) (K : O -> program U) eps :
  (forall S, probability M S <= exp eps * probability M' S) ->
  forall S, probability (and_then M K) S <= exp eps * probability (and_then M' K) S.
Proof.
  intros HM S. rewrite <- (Rplus_0_r eps). apply composition; [exact HM|]. intros o T. rewrite exp_0. lra.
Qed.
