(** An adaptive example: above threshold, which draws noise for one answer after another until one reaches the noisy threshold.

    How many draws it makes depends on earlier noise. The alignment moves the threshold by 1, and the noise of the answer that
    ends the run by the difference of the answers and 1. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs Alignment Laws.
Import ListNotations.
Open Scope R_scope.

Section AboveThreshold.
Variables qa qb : R.
Hypothesis Ha : 0 < qa < 1.
Hypothesis Hb : 0 < qb < 1.
Variable threshold : Z.

(** Compare answers with the noisy threshold, and draw where noise is missing. *)
Fixpoint compare (bar : Z) (answers noise : list Z) (i : nat) : action (option nat) :=
  match answers with
  | [] => End None
  | a :: rest => match noise with
                 | [] => Draw (geometric qb Hb)
                 | n :: later => if (bar <=? a + n)%Z then End (Some i) else compare bar rest later (S i)
                 end
  end.

(** The number of the first answer that reaches the threshold, with noise on both. *)
Definition above_threshold (answers : list Z) : program (option nat) :=
  fun x => match rev x with
           | [] => Draw (geometric qa Ha)
           | first :: noise => compare (threshold + first) answers noise 0
           end.

(** What happens before the next noise is drawn. *)
Definition ask (answers : list Z) : action (option nat) :=
  match answers with
  | [] => End None
  | _ :: _ => Draw (geometric qb Hb)
  end.

Fixpoint below (bar : Z) (answers noise : list Z) {struct noise} : Prop :=
  match noise, answers with
  | [], _ => True
  | n :: later, a :: rest => (a + n < bar)%Z /\ below bar rest later
  | _ :: _, [] => False
  end.

Lemma compare_below bar answers noise i : below bar answers noise ->
  compare bar answers noise i = ask (skipn (length noise) answers).
Proof.
  revert answers i. induction noise as [|n noise IH]; intros [|a answers] i; simpl; try easy.
  intros [Hn Hrest]. destruct (Z.leb_spec bar (a + n)); [lia | now apply IH].
Qed.

Lemma compare_draw bar answers noise i l : compare bar answers noise i = Draw l ->
  below bar answers noise /\ l = geometric qb Hb /\ exists a rest, skipn (length noise) answers = a :: rest.
Proof.
  revert noise i. induction answers as [|a answers IH]; intros [|n noise] i; simpl; try discriminate.
  - intros E. injection E as <-. repeat split. now exists a, answers.
  - destruct (Z.leb_spec bar (a + n)) as [|Hn]; [discriminate|]. intros E. now destruct (IH noise (S i) E).
Qed.

Lemma compare_last bar answers noise v i a rest : below bar answers noise -> skipn (length noise) answers = a :: rest ->
  compare bar answers (noise ++ [v]) i = if (bar <=? a + v)%Z then End (Some (i + length noise)%nat) else ask rest.
Proof.
  revert answers i. induction noise as [|n noise IH]; intros answers i; simpl.
  - intros _ ->. simpl. rewrite Nat.add_0_r. destruct (bar <=? a + v)%Z; [reflexivity | now destruct rest].
  - destruct answers as [|b answers]; simpl; [easy|]. intros [Hn Hbelow] E. destruct (Z.leb_spec bar (b + n)); [lia|].
    rewrite (IH answers (S i) Hbelow E). now rewrite Nat.add_succ_r.
Qed.

Lemma below_last bar answers noise v a rest : below bar answers noise -> skipn (length noise) answers = a :: rest ->
  (a + v < bar)%Z -> below bar answers (noise ++ [v]) /\ skipn (length (noise ++ [v])) answers = rest.
Proof.
  revert answers. induction noise as [|n noise IH]; intros answers; simpl.
  - intros _ -> Hv. simpl. now destruct rest.
  - destruct answers as [|b answers]; simpl; [easy|]. intros [Hn Hbelow] E Hv. destruct (IH answers Hbelow E Hv). auto.
Qed.

(** Neighbours: every answer differs by at most 1. *)
Variables answers answers' : list Z.
Definition close (a a' : Z) : Prop := (Z.abs (a - a') <= 1)%Z.
Hypothesis neighbours : Forall2 close answers answers'.

Lemma below_moved bar noise as1 as2 : Forall2 close as1 as2 -> below bar as1 noise -> below (bar + 1) as2 noise.
Proof.
  intros H. revert noise. induction H as [|a a' rest rest' Ha' Hrest IH]; intros [|n noise]; simpl; try easy.
  intros [Hn Hbelow]. unfold close in Ha'. split; [lia | auto].
Qed.

Lemma next_close n as1 as2 a rest : Forall2 close as1 as2 -> skipn n as1 = a :: rest ->
  exists a' rest', skipn n as2 = a' :: rest' /\ close a a' /\ Forall2 close rest rest'.
Proof.
  revert as1 as2. induction n as [|n IH]; intros as1 as2 H E.
  - simpl in E. subst as1. inversion H as [|? a' ? rest' Ha' Hrest]; subst. now exists a', rest'.
  - destruct H as [|b b' l l' Hb' Hl]; [discriminate|]. exact (IH l l' Hl E).
Qed.

Lemma ask_close as1 as2 : Forall2 close as1 as2 -> ask as1 = ask as2.
Proof. now intros []. Qed.

Definition shift (x : history) (v : Z) : Z :=
  match rev x with
  | [] => 1
  | first :: noise => match skipn (length noise) answers, skipn (length noise) answers' with
                      | a :: _, a' :: _ => if (threshold + first <=? a + v)%Z then 1 + a - a' else 0
                      | _, _ => 0
                      end
  end.

Definition price (x : history) (v : Z) : R := geometric_cost (match x with [] => qa | _ => qb end) (shift x v).

Local Notation M := (above_threshold answers).
Local Notation M' := (above_threshold answers').

(** A history after which M draws: either nothing was drawn, or the threshold and noise below it, and moving moves the threshold
    alone. *)
Lemma drawing x l : 0 < weight M x -> M x = Draw l ->
  (x = [] /\ l = geometric qa Ha)
  \/ (x <> [] /\ l = geometric qb Hb /\ exists first noise a rest, rev x = first :: noise /\ below (threshold + first) answers noise
      /\ skipn (length noise) answers = a :: rest /\ rev (move shift x) = (first + 1)%Z :: noise
      /\ cost price x = geometric_cost qa 1).
Proof.
  revert l. induction x as [|v k IH]; intros l Hw Hl.
  - left. split; [reflexivity|]. unfold above_threshold in Hl. simpl in Hl. now injection Hl as <-.
  - right. split; [discriminate|]. destruct (weight_positive M v k Hw) as (Hk & lk & Hlk & _).
    destruct (IH lk Hk Hlk) as [[-> _] | (Hne & _ & first & noise & a & rest & Hrev & Hbelow & Hskip & Hmove & Hcost)].
    + unfold above_threshold in Hl. simpl in Hl. destruct (compare_draw _ _ [] _ _ Hl) as (_ & -> & a & rest & E).
      split; [reflexivity|]. exists v, [], a, rest. simpl. repeat split; [exact E|]. unfold price. change (shift [] v) with 1%Z.
      apply Rplus_0_l.
    + unfold above_threshold in Hl. simpl in Hl. rewrite Hrev in Hl. simpl in Hl.
      rewrite (compare_last _ _ _ _ _ a rest Hbelow Hskip) in Hl.
      destruct (Z.leb_spec (threshold + first) (a + v)) as [|Hv]; [discriminate|].
      destruct (below_last _ _ _ _ _ _ Hbelow Hskip Hv) as [Hbelow' Hskip'].
      destruct rest as [|b rest]; [discriminate|]. injection Hl as <-. split; [reflexivity|].
      destruct (next_close _ _ _ _ _ neighbours Hskip) as (a' & rest' & Hskip2 & _).
      assert (Hshift : shift k v = 0%Z).
      { unfold shift. rewrite Hrev, Hskip, Hskip2. destruct (Z.leb_spec (threshold + first) (a + v)); [lia | reflexivity]. }
      exists first, (noise ++ [v]), b, rest. simpl. rewrite Hrev, Hmove, Hshift, Z.add_0_r. repeat split; auto.
      rewrite Hcost. unfold price. rewrite Hshift. unfold geometric_cost. simpl. ring.
Qed.

(** The whole costs what moving the threshold by 1 and one noise by at most 2 costs. *)
Theorem above_threshold_private (event : option nat -> Prop) :
  probability M event <= exp (- ln qa + 2 * - ln qb) * probability M' event.
Proof.
  assert (Hlog : 0 < - ln qb) by (pose proof (ln_increasing qb 1 ltac:(lra) ltac:(lra)) as H; rewrite ln_1 in H; lra).
  apply (theorem_A M M' shift price). set (T := halting M).
  assert (Hpossible : forall x, begins T x -> 0 < weight M x).
  { intros x [later [Hw _]]. unfold possible in Hw. induction later as [|v later IH]; [exact Hw|].
    apply IH. now apply (weight_positive M v). }
  assert (Hstate : forall h v l, begins T (v :: h) -> M h = Draw l ->
    (h = [] /\ l = geometric qa Ha /\ M' (move shift h) = Draw l /\ shift h v = 1%Z)
    \/ (exists a a' bar rest rest', h <> [] /\ l = geometric qb Hb /\ M' (move shift h) = Draw l /\ close a a'
        /\ Forall2 close rest rest'
        /\ shift h v = (if (bar <=? a + v)%Z then 1 + a - a' else 0)%Z
        /\ (forall w, shift h w = if (bar <=? a + w)%Z then 1 + a - a' else 0)%Z
        /\ cost price h = geometric_cost qa 1
        /\ M (v :: h) = (if (bar <=? a + v)%Z then End (Some (length h - 1)%nat) else ask rest)
        /\ M' (move shift (v :: h)) = (if (bar + 1 <=? a' + (v + shift h v))%Z then End (Some (length h - 1)%nat) else ask rest'))).
  { intros h v l Hh Hl. pose proof (Hpossible h (begins_before T v h Hh)) as Hw.
    destruct (drawing h l Hw Hl) as [[-> ->] | (Hne & -> & first & noise & a & rest & Hrev & Hbelow & Hskip & Hmove & Hcost)].
    - now left.
    - right. destruct (next_close _ _ _ _ _ neighbours Hskip) as (a' & rest' & Hskip' & Hclose & Hrest).
      pose proof (below_moved _ _ _ _ neighbours Hbelow) as Hbelow'.
      assert (Hlength : length h = S (length noise)) by (rewrite <- (rev_length h), Hrev; reflexivity).
      assert (Hshift : forall w, (shift h w = if (threshold + first <=? a + w) then 1 + a - a' else 0)%Z).
      { intros w. unfold shift. now rewrite Hrev, Hskip, Hskip'. }
      exists a, a', (threshold + first)%Z, rest, rest'. repeat split; auto.
      + unfold above_threshold. rewrite Hmove, Z.add_assoc, (compare_below _ _ _ _ Hbelow'), Hskip'. reflexivity.
      + unfold above_threshold. simpl. rewrite Hrev. simpl. rewrite (compare_last _ _ _ _ _ a rest Hbelow Hskip), Hlength.
        simpl. now rewrite Nat.sub_0_r.
      + unfold above_threshold. simpl. rewrite Hmove. simpl.
        rewrite Z.add_assoc, (compare_last _ _ _ _ _ a' rest' Hbelow' Hskip'), Hlength.
        simpl. now rewrite Nat.sub_0_r. }
  repeat split.
  - intros h v l Hh Hl. exists l. destruct (Hstate h v l Hh Hl) as [(_ & _ & E & _) | (a & a' & bar & rest & rest' & _ & _ & E & _)]; exact E.
  - intros x o Hx Ho. destruct x as [|v h]; [discriminate|]. destruct (weight_positive M v h (proj1 Hx)) as (_ & l & Hl & _).
    destruct (Hstate h v l (begins_itself T _ Hx) Hl)
      as [(-> & _ & _ & Hshift) | (a & a' & bar & rest & rest' & _ & _ & _ & Hclose & Hrest & Hv & _ & _ & E & E')].
    + unfold above_threshold in Ho |- *. simpl in *.
      rewrite (compare_below _ _ [] _ I) in Ho. rewrite (compare_below _ _ [] _ I). simpl in *.
      now rewrite <- (ask_close answers answers' neighbours).
    + rewrite E'. rewrite E in Ho. rewrite Hv. unfold close in Hclose. destruct (Z.leb_spec bar (a + v)).
      * destruct (Z.leb_spec (bar + 1) (a' + (v + (1 + a - a')))); [exact Ho | lia].
      * rewrite Z.add_0_r. destruct (Z.leb_spec (bar + 1) (a' + v)); [lia|]. now rewrite <- (ask_close rest rest' Hrest).
  - intros h v w Hh Hk E. pose proof (Hpossible _ Hh) as Hw. destruct (weight_positive M v h Hw) as (_ & l & Hl & _).
    destruct (Hstate h v l Hh Hl) as [(-> & _ & _ & _) | (a & a' & bar & rest & rest' & _ & _ & _ & Hclose & _ & _ & Hshift & _)].
    + unfold shift in E. simpl in E. lia.
    + rewrite !Hshift in E. unfold close in Hclose. destruct (Z.leb_spec bar (a + v)), (Z.leb_spec bar (a + w)); lia.
  - intros h v l' Hh Hl'. pose proof (Hpossible _ Hh) as Hw. destruct (weight_positive M v h Hw) as (_ & l & Hl & _).
    destruct (Hstate h v l Hh Hl) as [(_ & -> & E & _) | (a & a' & bar & rest & rest' & _ & -> & E & _)];
      rewrite E in Hl'; injection Hl' as <-; apply geometric_positive; assumption.
  - intros h v l l' Hh Hl Hl' _ _.
    destruct (Hstate h v l Hh Hl) as [(-> & -> & E & _) | (a & a' & bar & rest & rest' & Hne & -> & E & _)];
      rewrite E in Hl'; injection Hl' as <-; unfold price; [|destruct h; [easy|]]; apply geometric_moved.
  - intros x Hx. destruct x as [|v h]; [simpl; pose proof (proj2 Hx) as [o Ho]; discriminate|].
    destruct (weight_positive M v h (proj1 Hx)) as (_ & l & Hl & _).
    assert (Hone : geometric_cost qa 1 = - ln qa) by (unfold geometric_cost; simpl; ring).
    destruct (Hstate h v l (begins_itself T _ Hx) Hl)
      as [(-> & _ & _ & Hshift) | (a & a' & bar & rest & rest' & Hne & _ & _ & Hclose & _ & Hv & _ & Hcost & _)].
    + simpl. unfold price. rewrite Hshift, Hone. lra.
    + simpl. rewrite Hcost, Hone. unfold price. destruct h; [easy|]. rewrite Hv. unfold geometric_cost, close in *.
      apply Rplus_le_compat_l, Rmult_le_compat_r; [lra|]. apply IZR_le. destruct (bar <=? a + v)%Z; lia.
Qed.
End AboveThreshold.

(** With noise of scale 2 / eps on the threshold and 4 / eps on the answers it costs eps. *)
Theorem above_threshold_at_eps eps Ha Hb threshold answers answers' (event : option nat -> Prop) :
  Forall2 close answers answers' ->
  probability (above_threshold (exp (- (eps / 2))) (exp (- (eps / 4))) Ha Hb threshold answers) event
  <= exp eps * probability (above_threshold (exp (- (eps / 2))) (exp (- (eps / 4))) Ha Hb threshold answers') event.
Proof.
  intros H. pose proof (above_threshold_private _ _ Ha Hb threshold answers answers' H event) as Hle.
  rewrite !ln_exp in Hle. now replace (- - (eps / 2) + 2 * - - (eps / 4)) with eps in Hle by lra.
Qed.
