(** A check of the definitions: if every law sums to 1, then a program ends or draws for ever with probability exactly 1. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs.
Import ListNotations.
Open Scope R_scope.

Lemma law_summable (l : law) : summable l (fun _ => True).
Proof. exists 1. intros r (k & Hk & _ & ->). now apply mass_bound. Qed.

Definition sums_to_one (l : law) : Prop := total l (fun _ => True) (law_summable l) = 1.

Section Whole.
Context {O : Type} (M : program O).
Hypothesis whole : forall h l, M h = Draw l -> sums_to_one l.

(** Finitely many next draws take up nearly all of what the histories before them weigh. *)
Lemma children_near n d : 0 < d -> forall a,
  NoDup a -> (forall h, In h a -> length h = n /\ draws M h = true) ->
  exists b, NoDup b /\ (forall x, In x b -> length x = S n /\ In (before x) a)
            /\ (1 - d) * sum_over (weight M) a <= sum_over (weight M) b.
Proof.
  intros Hd a Ha. induction Ha as [|h a Hh Ha IH]; intros HE.
  - exists []. repeat split; [constructor | contradiction | contradiction | simpl; lra].
  - destruct IH as (b & Hb & HbE & Hle); [intros k Hk; apply HE; now right|].
    destruct (HE h (or_introl eq_refl)) as [Hlen Hdraws]. unfold draws in Hdraws.
    destruct (M h) as [l|] eqn:Hl; [|discriminate].
    destruct (total_near l (fun _ => True) (law_summable l) d Hd) as (k & Hk & _ & Hnear).
    rewrite (whole h l Hl) in Hnear. exists (map (fun v => v :: h) k ++ b). split; [|split].
    + apply NoDup_append; [|exact Hb|].
      * apply NoDup_map_on; [exact Hk | intros v w _ _ E; now injection E].
      * intros x Hx Hx'. apply in_map_iff in Hx as (v & <- & _). now apply HbE in Hx' as [_ Hin].
    + intros x Hx. apply in_app_or in Hx as [Hx|Hx].
      * apply in_map_iff in Hx as (v & <- & _). split; [simpl; now rewrite Hlen | now left].
      * apply HbE in Hx as [Hx Hin]. split; [exact Hx | now right].
    + rewrite sum_over_app, sum_over_map. simpl sum_over at 1.
      rewrite (sum_over_eq (fun v => weight M (v :: h)) (fun v => weight M h * l v) k).
      2:{ intros v _. simpl. unfold step. now rewrite Hl. }
      rewrite sum_over_scale. pose proof (weight_nonneg M h) as Hw.
      pose proof (Rmult_le_compat_l _ _ _ Hw (Rlt_le _ _ Hnear)). lra.
Qed.

Lemma nearly_all n : forall d, 0 < d -> exists a b,
  NoDup a /\ (forall x, In x a -> ended M x /\ (length x < n)%nat)
  /\ NoDup b /\ (forall x, In x b -> length x = n)
  /\ 1 - d < sum_over (weight M) a + sum_over (weight M) b.
Proof.
  induction n as [|n IH]; intros d Hd.
  - exists [], [[]]. repeat split; try contradiction; [constructor | | | simpl; lra].
    + constructor; [easy | constructor].
    + now intros x [<-|[]].
  - destruct (IH (d / 2)) as (a & b & Ha & HaE & Hb & HbE & Hsum); [lra|].
    set (going := filter (draws M) b). set (stopped := filter (fun x => negb (draws M x)) b).
    destruct (children_near n (d / 2) ltac:(lra) going) as (c & Hc & HcE & Hle).
    { now apply NoDup_filter. }
    { intros h Hh. apply filter_In in Hh as [Hh Hdraws]. auto. }
    exists (a ++ stopped), c. repeat split.
    + apply NoDup_append; [exact Ha | now apply NoDup_filter|].
      intros x Hx Hx'. apply HaE in Hx as [_ Hx]. apply filter_In in Hx' as [Hx' _]. apply HbE in Hx'. lia.
    + apply in_app_or in H as [Hx|Hx]; [now apply HaE|]. apply filter_In in Hx as [Hx Hdraws].
      unfold draws in Hdraws. unfold ended. destruct (M x) as [|o]; [discriminate | now exists o].
    + apply in_app_or in H as [Hx|Hx]; [apply HaE in Hx; lia|]. apply filter_In in Hx as [Hx _]. apply HbE in Hx. lia.
    + exact Hc.
    + intros x Hx. now apply HcE.
    + pose proof (alive_summable M n) as Hsummable.
      assert (Hgoing : sum_over (weight M) going <= 1).
      { pose proof (ended_and_alive M n [] going (NoDup_nil _) (fun x Hx => match Hx with end)) as H. simpl in H.
        rewrite Rplus_0_l in H. apply H; [now apply NoDup_filter|]. intros x Hx. apply filter_In in Hx as [Hx _]. auto. }
      rewrite (sum_over_split (draws M) _ b) in Hsum. fold going stopped in Hsum. rewrite sum_over_app.
      assert (d / 2 * sum_over (weight M) going <= d / 2 * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Theorem ends_or_draws_for_ever : probability M (fun _ => True) + never M = 1.
Proof.
  apply Rle_antisym.
  - apply Rnot_lt_le. intros Hlt. set (d := probability M (fun _ => True) + never M - 1) in *.
    assert (Hd : 0 < d) by (unfold d; lra).
    destruct (total_near (weight M) (ends_in M (fun _ => True)) (ended_summable _ _ (ends_in_ended M _)) (d / 2))
      as (a & Ha & HaE & Hnear); [lra|]. fold (probability M (fun _ => True)) in Hnear.
    destruct (longest a) as [n Hn].
    destruct (total_near (weight M) _ (alive_summable M n) (d / 2)) as (b & Hb & HbE & Hnear'); [lra|]. fold (alive M n) in Hnear'.
    pose proof (decreasing_ineq _ _ (alive_decreasing M) (never_is_limit M) n) as Hnever.
    pose proof (ended_and_alive M n a b Ha (fun x Hx => conj (ends_in_ended M _ x (HaE x Hx)) (Hn x Hx)) Hb HbE).
    unfold d in *. lra.
  - assert (1 - probability M (fun _ => True) <= never M); [|lra].
    apply (limit_le (fun _ => 1 - probability M (fun _ => True)) (alive M)); [|apply never_is_limit|].
    + intros d Hd. exists 0%nat. intros n _. unfold R_dist. rewrite Rminus_diag_eq, Rabs_R0; [exact Hd | reflexivity].
    + intros n. apply Rnot_lt_le. intros Hlt.
      destruct (nearly_all n (1 - probability M (fun _ => True) - alive M n)) as (a & b & Ha & HaE & Hb & HbE & Hsum); [lra|].
      assert (sum_over (weight M) a <= probability M (fun _ => True)).
      { apply finite_le_total; [exact Ha|]. intros x Hx. destruct (HaE x Hx) as [[o Ho] _]. now exists o. }
      assert (sum_over (weight M) b <= alive M n) by (apply finite_le_total; assumption). lra.
Qed.
End Whole.
