(** Programs that draw integers from adaptively chosen discrete laws, and the probability of their outputs.

    A program is what its text computes between draws: from the values drawn so far, either the law of the next draw or the output.
    A history holds the values drawn so far, the newest first. An exception, or a loop that draws no more and never ends, is an output
    of its own; a run that draws for ever has none. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(** A discrete law on the integers, or on the steps of a lattice. Its sum may be below 1: less is assumed than in a probability law. *)
Record law := Law {
  mass :> Z -> R;
  mass_nonneg : forall v, 0 <= mass v;
  mass_bound : forall l, NoDup l -> sum_over mass l <= 1;
}.

Definition history := list Z.
Definition before (x : history) : history := tl x.
Definition newest (x : history) : Z := hd 0%Z x.

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

(** Histories of n + 1 draws weigh at most as much as the histories of n draws that they continue. *)
Lemma parents n (b : list history) :
  NoDup b -> (forall x, In x b -> length x = S n) ->
  exists a, NoDup a /\ (forall h, In h a -> length h = n /\ draws h = true /\ exists v, In (v :: h) b)
            /\ sum_over weight b <= sum_over weight a.
Proof.
  intros Hb Hlen. pose (dec := list_eq_dec Z.eq_dec : forall x y : history, {x = y} + {x <> y}). pose (all := nodup dec (map before b)).
  exists (filter draws all). split; [|split].
  - apply NoDup_filter, NoDup_nodup.
  - intros h Hh. apply filter_In in Hh as [Hh Hd]. apply nodup_In, in_map_iff in Hh as (x & Hx & Hin).
    pose proof (Hlen x Hin) as Hn. destruct x as [|v t]; [discriminate|]. simpl in Hx. subst t.
    simpl in Hn. repeat split; [lia | exact Hd | now exists v].
  - rewrite (sum_over_groups dec before weight b all (NoDup_nodup _ _)).
    2:{ intros h Hh. now apply nodup_In. }
    apply Rle_trans with (sum_over (fun h => if draws h then weight h else 0) all).
    + apply sum_over_le. intros h _. set (group := filter (with_key dec before h) b).
      assert (Hgroup : forall x, In x group -> exists v, x = v :: h).
      { intros x Hx. apply filter_In in Hx as [Hx Hk]. unfold with_key in Hk. destruct dec as [E|]; [|discriminate].
        pose proof (Hlen x Hx). destruct x as [|v t]; [discriminate|]. simpl in E. subst. now exists v. }
      assert (Hsum : sum_over weight group = weight h * sum_over (step h) (map newest group)).
      { rewrite sum_over_map, <- sum_over_scale. apply sum_over_eq. intros x Hx. now destruct (Hgroup x Hx) as [v ->]. }
      assert (Hnodup : NoDup (map newest group)).
      { apply NoDup_map_on; [now apply NoDup_filter|]. intros x y Hx Hy E.
        destruct (Hgroup x Hx) as [v ->], (Hgroup y Hy) as [w ->]. simpl in E. now subst. }
      rewrite Hsum. pose proof (step_bound h _ Hnodup) as Hstep. pose proof (weight_nonneg h) as Hw.
      apply Rle_trans with (weight h * (if draws h then 1 else 0)); [now apply Rmult_le_compat_l|].
      destruct (draws h); lra.
    + rewrite (sum_over_filter draws).
      * apply sum_over_le. intros h Hh. apply filter_In in Hh as [_ ->]. lra.
      * intros h _ ->. reflexivity.
Qed.

(** Runs that ended within fewer than n draws and runs that make n draws together have probability at most 1. *)
Lemma ended_and_alive n : forall a b : list history,
  NoDup a -> (forall x, In x a -> ended x /\ (length x < n)%nat) ->
  NoDup b -> (forall x, In x b -> length x = n) ->
  sum_over weight a + sum_over weight b <= 1.
Proof.
  induction n as [|n IH]; intros a b Ha HaE Hb Hlen.
  - destruct a as [|x a]; [|destruct (HaE x (or_introl eq_refl)); lia].
    replace 1 with (sum_over weight [[]]) by (simpl; lra). simpl sum_over at 1. rewrite Rplus_0_l.
    apply sum_over_incl; [apply weight_nonneg | exact Hb|].
    intros x Hx. apply Hlen in Hx. destruct x; [now left | discriminate].
  - destruct (parents n b Hb Hlen) as (c & Hc & HcE & Hle).
    rewrite (sum_over_split (fun x : history => Nat.ltb (length x) n) weight a).
    set (shorter := filter _ a). set (longest := filter _ a).
    assert (Hlong : forall x, In x longest -> ended x /\ length x = n).
    { intros x Hx. apply filter_In in Hx as [Hx Hk]. destruct (HaE x Hx) as [He Hn]. split; [exact He|].
      destruct (Nat.ltb_spec (length x) n); [discriminate | lia]. }
    assert (Hboth : sum_over weight shorter + sum_over weight (longest ++ c) <= 1).
    { apply IH.
      - now apply NoDup_filter.
      - intros x Hx. apply filter_In in Hx as [Hx Hk]. split; [now apply HaE | now apply Nat.ltb_lt].
      - apply NoDup_append; [now apply NoDup_filter | exact Hc|].
        intros x Hx Hx'. destruct (Hlong x Hx) as [[o Ho] _], (HcE x Hx') as (_ & Hd & _).
        unfold draws in Hd. now rewrite Ho in Hd.
      - intros x Hx. apply in_app_or in Hx as [Hx|Hx]; [now apply Hlong | now apply HcE]. }
    rewrite sum_over_app in Hboth. lra.
Qed.

Lemma longest l : exists n, forall x : history, In x l -> (length x < n)%nat.
Proof.
  induction l as [|x l [n Hn]]; [now exists 0%nat|].
  exists (S (length x + n)). intros y [<-|Hy]; [lia | specialize (Hn y Hy); lia].
Qed.

Lemma ended_bound l : NoDup l -> (forall x, In x l -> ended x) -> sum_over weight l <= 1.
Proof.
  intros Hl HE. destruct (longest l) as [n Hn].
  pose proof (ended_and_alive n l [] Hl (fun x Hx => conj (HE x Hx) (Hn x Hx)) (NoDup_nil _)) as H.
  simpl in H. assert (sum_over weight l + 0 <= 1); [apply H; contradiction | lra].
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
  intros n. apply total_le. intros b Hb Hlen. destruct (parents n b Hb Hlen) as (a & Ha & HaE & Hle).
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
