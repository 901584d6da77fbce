(** Theorem A: an alignment of two programs bounds the probabilities of their outputs.

    M is the program on data D and M' the program on a neighbour D'. An alignment adds s to each draw of M. Its shift is an
    integer, a multiple of the lattice (C5), and is given by earlier draws and the draw itself (C3), so both conditions hold by
    the type of s. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs.
Import ListNotations.
Open Scope R_scope.

Section Conditions.
Context {O : Type} (M M' : program O).
Variable s : history -> Z -> Z.  (** by how much a draw moves, given the draws before it *)
Variable c : history -> Z -> R.  (** what this costs, in nats *)

(** phi: every draw moved. *)
Fixpoint move (x : history) : history :=
  match x with
  | [] => []
  | v :: h => (v + s h v)%Z :: move h
  end.

Fixpoint cost (x : history) : R :=
  match x with
  | [] => 0
  | v :: h => cost h + c h v
  end.

(** The conditions speak of a set T of histories, and of what such a history begins with. *)
Variable T : history -> Prop.

Definition begins (h : history) : Prop := exists later, T (later ++ h).

(** C1: while M draws, so does M'. Sites and parameters need not be equal, since C7 compares the laws. *)
Definition C1 : Prop := forall h v l, begins (v :: h) -> M h = Draw l -> exists l', M' (move h) = Draw l'.

(** C1, C2: both end together, with equal outputs. *)
Definition C2 : Prop := forall x o, T x -> M x = End o -> M' (move x) = End o.

(** C4: for fixed earlier draws, moving is one to one. *)
Definition C4 : Prop := forall h v w, begins (v :: h) -> begins (w :: h) -> (v + s h v = w + s h w)%Z -> v = w.

(** C6: moved draws stay in the support. *)
Definition C6 : Prop := forall h v l', begins (v :: h) -> M' (move h) = Draw l' -> 0 < l' (v + s h v)%Z.

(** C7: each draw costs at least the logarithm of the ratio of the probabilities, and the costs add up to at most eps. *)
Definition C7 (eps : R) : Prop :=
  (forall h v l l', begins (v :: h) -> M h = Draw l -> M' (move h) = Draw l' ->
     0 < l v -> 0 < l' (v + s h v)%Z -> l v <= exp (c h v) * l' (v + s h v)%Z)
  /\ (forall x, T x -> cost x <= eps).

Definition aligned (eps : R) : Prop := C1 /\ C2 /\ C4 /\ C6 /\ C7 eps.

Lemma begins_itself x : T x -> begins x.
Proof. intros H. now exists []. Qed.

Lemma begins_before v h : begins (v :: h) -> begins h.
Proof. intros [later H]. exists (later ++ [v]). now rewrite <- app_assoc. Qed.

Lemma move_length x : length (move x) = length x.
Proof. induction x as [|v h IH]; simpl; congruence. Qed.

(** By C4 moving whole histories is one to one too. *)
Lemma move_injective x y : C4 -> begins x -> begins y -> move x = move y -> x = y.
Proof.
  intros H4. revert y. induction x as [|v h IH]; intros [|w k]; simpl; intros Hx Hy E; try discriminate; [reflexivity|].
  injection E as Ev Eh. assert (h = k) as -> by (apply IH; eauto using begins_before).
  now rewrite (H4 k v w Hx Hy Ev).
Qed.

(** By C1, C6 and C7 a possible history weighs at most exp (cost) times what the moved one weighs under M'. *)
Lemma weight_moved eps x : C1 -> C6 -> C7 eps -> begins x -> 0 < weight M x -> weight M x <= exp (cost x) * weight M' (move x).
Proof.
  intros H1 H6 [H7 _]. induction x as [|v h IH]; intros Hx Hw; simpl; [rewrite exp_0; lra|].
  destruct (weight_positive M v h Hw) as (Hh & l & Hl & Hv). destruct (H1 h v l Hx Hl) as [l' Hl'].
  pose proof (H7 h v l l' Hx Hl Hl' Hv (H6 h v l' Hx Hl')) as Hstep.
  pose proof (IH (begins_before v h Hx) Hh) as Hweight.
  unfold step. rewrite Hl, Hl', exp_plus.
  replace (exp (cost h) * exp (c h v) * (weight M' (move h) * l' (v + s h v)%Z))
    with (exp (cost h) * weight M' (move h) * (exp (c h v) * l' (v + s h v)%Z)) by ring.
  apply Rmult_le_compat; lra.
Qed.

Lemma weight_within eps x : C1 -> C6 -> C7 eps -> T x -> 0 < weight M x -> weight M x <= exp eps * weight M' (move x).
Proof.
  intros H1 H6 H7 Hx Hw. pose proof (weight_moved eps x H1 H6 H7 (begins_itself x Hx) Hw) as Hle.
  apply Rle_trans with (1 := Hle). apply Rmult_le_compat_r; [apply weight_nonneg|].
  destruct (Rle_lt_or_eq_dec _ _ (proj2 H7 x Hx)) as [Hlt | ->]; [|lra]. now left; apply exp_increasing.
Qed.
End Conditions.

(** Histories that a run of M can have. *)
Definition possible {O} (M : program O) (x : history) : Prop := 0 < weight M x.

(** The traces of halting runs. *)
Definition halting {O} (M : program O) (x : history) : Prop := possible M x /\ ended M x.

(** The general step: conditions on the possible traces with an output in S bound the probability of S. *)
Lemma aligned_bound {O} (M M' : program O) s c eps (S : O -> Prop) :
  aligned M M' s c (fun x => possible M x /\ ends_in M S x) eps -> probability M S <= exp eps * probability M' S.
Proof.
  set (T := fun x => _). intros (H1 & H2 & H4 & H6 & H7).
  apply (total_transport _ _ _ _ _ _ (move s)).
  - apply weight_nonneg.
  - left. apply exp_pos.
  - intros x Hx Hw. assert (HT : T x) by now split. split.
    + destruct Hx as (o & Ho & HS). exists o. split; [exact (H2 x o HT Ho) | exact HS].
    + now apply (weight_within M M' s c T).
  - intros x y Hx Hy Hwx Hwy. apply (move_injective s T); [exact H4 | |]; now apply begins_itself; split.
Qed.

(** Conditions on a larger set of histories imply those on a smaller one. *)
Lemma aligned_on_fewer {O} (M M' : program O) s c (T U : history -> Prop) eps :
  (forall x, U x -> T x) -> aligned M M' s c T eps -> aligned M M' s c U eps.
Proof.
  intros HUT (H1 & H2 & H4 & H6 & H7 & Hcost).
  assert (Hb : forall h, begins U h -> begins T h) by (intros h [later H]; exists later; auto).
  repeat split.
  - intros h v l Hh. apply (H1 h v l); auto.
  - intros x o Hx. apply H2; auto.
  - intros h v w Hv Hw. apply H4; auto.
  - intros h v l' Hh. apply H6; auto.
  - intros h v l l' Hh. apply H7; auto.
  - auto.
Qed.

(** If C1 to C7 hold on all traces of halting runs on D, then P(M(D) in S) <= e^eps P(M(D') in S) for every S. *)
Theorem theorem_A {O} (M M' : program O) s c eps :
  aligned M M' s c (halting M) eps ->
  forall S : O -> Prop, probability M S <= exp eps * probability M' S.
Proof.
  intros H S. apply (aligned_bound M M' s c). apply aligned_on_fewer with (2 := H).
  intros x [Hw Hx]. split; [exact Hw | now apply (ends_in_ended M S)].
Qed.
