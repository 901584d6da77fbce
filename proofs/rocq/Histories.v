(** Histories of integer draws, and functions of them that do not grow from a history to its continuations.

    A history holds the values drawn so far, the newest first. The chance of a history, and what is left of a budget times this
    chance, are such functions. Added over histories of which none continues another, they stay within their first value. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Definition history := list Z.
Definition before (x : history) : history := tl x.
Definition newest (x : history) : Z := hd 0%Z x.

Definition same_history : forall x y : history, {x = y} + {x <> y} := list_eq_dec Z.eq_dec.

Section Shrinking.
Variable W : history -> R.
Variable live : history -> bool.  (** whether the history goes on *)
Hypothesis W_nonneg : forall x, 0 <= W x.
Hypothesis W_shrinks : forall h l, NoDup l -> sum_over (fun v => W (v :: h)) l <= if live h then W h else 0.

(** Histories of n + 1 draws have at most the value of the histories of n draws that they continue. *)
Lemma parents n (b : list history) :
  NoDup b -> (forall x, In x b -> length x = S n) ->
  exists a, NoDup a /\ (forall h, In h a -> length h = n /\ live h = true /\ exists v, In (v :: h) b)
            /\ sum_over W b <= sum_over W a.
Proof.
  intros Hb Hlen. pose (all := nodup same_history (map before b)).
  exists (filter live all). split; [|split].
  - apply NoDup_filter, NoDup_nodup.
  - intros h Hh. apply filter_In in Hh as [Hh Hd]. apply nodup_In, in_map_iff in Hh as (x & Hx & Hin).
    pose proof (Hlen x Hin) as Hn. destruct x as [|v t]; [discriminate|]. simpl in Hx. subst t.
    simpl in Hn. repeat split; [lia | exact Hd | now exists v].
  - rewrite (sum_over_groups same_history before W b all (NoDup_nodup _ _)).
    2:{ intros h Hh. now apply nodup_In. }
    apply Rle_trans with (sum_over (fun h => if live h then W h else 0) all).
    + apply sum_over_le. intros h _. set (group := filter (with_key same_history before h) b).
      assert (Hgroup : forall x, In x group -> x = newest x :: h).
      { intros x Hx. apply filter_In in Hx as [Hx Hk]. unfold with_key in Hk. destruct same_history as [E|]; [|discriminate].
        pose proof (Hlen x Hx). destruct x as [|v t]; [discriminate|]. simpl in *. now subst. }
      rewrite (sum_over_eq W (fun x => W (newest x :: h))) by (intros x Hx; now rewrite <- (Hgroup x Hx)).
      rewrite <- (sum_over_map newest (fun v => W (v :: h))). apply W_shrinks.
      apply NoDup_map_on; [now apply NoDup_filter|]. intros x y Hx Hy E.
      rewrite (Hgroup x Hx), (Hgroup y Hy). now rewrite E.
    + rewrite (sum_over_filter live).
      * apply sum_over_le. intros h Hh. apply filter_In in Hh as [_ ->]. lra.
      * intros h _ ->. reflexivity.
Qed.

(** Histories that ended within fewer than n draws and histories of n draws have together at most the value at the start. *)
Lemma ended_and_going n : forall a b : list history,
  NoDup a -> (forall x, In x a -> live x = false /\ (length x < n)%nat) ->
  NoDup b -> (forall x, In x b -> length x = n) ->
  sum_over W a + sum_over W b <= W [].
Proof.
  induction n as [|n IH]; intros a b Ha HaE Hb Hlen.
  - destruct a as [|x a]; [|destruct (HaE x (or_introl eq_refl)); lia].
    replace (W []) with (sum_over W [[]]) by (simpl; lra). simpl sum_over at 1. rewrite Rplus_0_l.
    apply sum_over_incl; [exact W_nonneg | exact Hb|].
    intros x Hx. apply Hlen in Hx. destruct x; [now left | discriminate].
  - destruct (parents n b Hb Hlen) as (c & Hc & HcE & Hle).
    rewrite (sum_over_split (fun x : history => Nat.ltb (length x) n) W a).
    set (shorter := filter _ a). set (longest := filter _ a).
    assert (Hlong : forall x, In x longest -> live x = false /\ length x = n).
    { intros x Hx. apply filter_In in Hx as [Hx Hk]. destruct (HaE x Hx) as [He Hn]. split; [exact He|].
      destruct (Nat.ltb_spec (length x) n); [discriminate | lia]. }
    assert (Hboth : sum_over W shorter + sum_over W (longest ++ c) <= W []).
    { apply IH.
      - now apply NoDup_filter.
      - intros x Hx. apply filter_In in Hx as [Hx Hk]. split; [now apply HaE | now apply Nat.ltb_lt].
      - apply NoDup_append; [now apply NoDup_filter | exact Hc|].
        intros x Hx Hx'. destruct (Hlong x Hx) as [Hdead _], (HcE x Hx') as (_ & Hlive & _). congruence.
      - intros x Hx. apply in_app_or in Hx as [Hx|Hx]; [now apply Hlong | now apply HcE]. }
    rewrite sum_over_app in Hboth. lra.
Qed.

Lemma longest l : exists n, forall x : history, In x l -> (length x < n)%nat.
Proof.
  induction l as [|x l [n Hn]]; [now exists 0%nat|].
  exists (S (length x + n)). intros y [<-|Hy]; [lia | specialize (Hn y Hy); lia].
Qed.

(** In particular this holds for histories that ended, whatever their lengths. *)
Lemma ended_total l : NoDup l -> (forall x, In x l -> live x = false) -> sum_over W l <= W [].
Proof.
  intros Hl HE. destruct (longest l) as [n Hn].
  pose proof (ended_and_going n l [] Hl (fun x Hx => conj (HE x Hx) (Hn x Hx)) (NoDup_nil _)) as H.
  simpl in H. assert (sum_over W l + 0 <= W []); [apply H; contradiction | lra].
Qed.
End Shrinking.
