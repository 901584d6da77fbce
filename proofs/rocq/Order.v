(** Theorem A': shifts that look at noise drawn later, where the output alone fixes how many draws there are and their laws. *)

From Coq Require Import Reals List ZArith Lra Lia Permutation.
From Dpaudit Require Import Sums Histories Programs Alignment PerOutput.
Import ListNotations.
Open Scope R_scope.

(** The draw at place j, counted from the first; places count from 0. *)
Definition draw_at (x : history) (j : nat) : Z := nth j (rev x) 0%Z.

(** The draws in another order: `order` lists the places, and the result again has the newest first. *)
Definition reorder (order : list nat) (x : history) : history := rev (map (draw_at x) order).

(** A run draws from these laws, one for each place. *)
Definition draws_from {O} (M : program O) (laws : nat -> law) (x : history) : Prop :=
  forall later v h, x = later ++ v :: h -> M h = Draw (laws (length h)).

(** The program that makes the same draws in this order, and gives nothing. *)
Definition in_order (laws : nat -> law) (order : list nat) : program unit :=
  fun h => match nth_error order (length h) with
           | Some j => Draw (laws j)
           | None => End tt
           end.

Fixpoint product {A} (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 1
  | x :: rest => f x * product f rest
  end.

Lemma product_app {A} (f : A -> R) l m : product f (l ++ m) = product f l * product f m.
Proof. induction l as [|x l IH]; simpl; [lra | rewrite IH; ring]. Qed.

Lemma product_eq {A} (f g : A -> R) l : (forall x, In x l -> f x = g x) -> product f l = product g l.
Proof. induction l as [|x l IH]; simpl; intros H; [reflexivity|]. rewrite IH, (H x); auto. Qed.

Lemma product_permutation {A} (f : A -> R) l m : Permutation l m -> product f l = product f m.
Proof. intros H. induction H; simpl; [reflexivity | congruence | ring | congruence]. Qed.

Lemma draw_at_last v h : draw_at (v :: h) (length h) = v.
Proof. unfold draw_at. simpl. rewrite app_nth2; rewrite rev_length; [now rewrite Nat.sub_diag | lia]. Qed.

Lemma draw_at_before v h j : (j < length h)%nat -> draw_at (v :: h) j = draw_at h j.
Proof. intros Hj. unfold draw_at. simpl. rewrite app_nth1; [reflexivity | now rewrite rev_length]. Qed.

(** A run weighs the product over its places, and a product has no order. *)
Lemma weight_as_product {O} (M : program O) laws x :
  draws_from M laws x -> weight M x = product (fun j => laws j (draw_at x j)) (seq 0 (length x)).
Proof.
  induction x as [|v h IH]; intros Hx; [reflexivity|].
  assert (Hh : draws_from M laws h) by (intros later w k ->; now apply (Hx (v :: later) w)).
  simpl length. rewrite seq_S, product_app. simpl. rewrite draw_at_last, Rmult_1_r. unfold step.
  rewrite (Hx [] v h eq_refl), (IH Hh). f_equal. apply product_eq. intros j Hj. apply in_seq in Hj.
  now rewrite draw_at_before by lia.
Qed.

Lemma weight_in_order laws order x : weight (in_order laws order) (reorder order x) = product (fun j => laws j (draw_at x j)) order.
Proof.
  unfold reorder.
  assert (H : forall first rest, first ++ rest = order ->
    weight (in_order laws order) (rev (map (draw_at x) first)) = product (fun j => laws j (draw_at x j)) first).
  { induction first as [|j first IH] using rev_ind; intros rest Hrest; [reflexivity|].
    rewrite map_app, rev_app_distr, product_app. simpl. rewrite (IH (j :: rest)) by (now rewrite <- Hrest, <- app_assoc).
    unfold step, in_order. rewrite rev_length, map_length, <- Hrest, <- app_assoc, nth_error_app2, Nat.sub_diag by lia. simpl.
    ring. }
  apply (H order []), app_nil_r.
Qed.

Lemma weight_reordered {O} (M : program O) laws order x :
  draws_from M laws x -> Permutation order (seq 0 (length x)) -> weight M x = weight (in_order laws order) (reorder order x).
Proof. intros Hx Horder. rewrite weight_in_order, (product_permutation _ _ _ Horder). now apply weight_as_product. Qed.

Lemma reorder_injective order x y :
  Permutation order (seq 0 (length x)) -> length x = length y -> reorder order x = reorder order y -> x = y.
Proof.
  intros Horder Hlen E. unfold reorder in E. apply (f_equal (@rev Z)) in E. rewrite !rev_involutive in E.
  rewrite <- (rev_involutive x), <- (rev_involutive y). f_equal. apply (nth_ext _ _ 0%Z 0%Z); rewrite !rev_length; [exact Hlen|].
  intros j Hj. assert (Hin : In j order) by (apply (Permutation_in j (Permutation_sym Horder)), in_seq; lia).
  exact (ext_in_map E j Hin).
Qed.

Section InOrder.
Context {O I : Type} (M M' : program O) (part : O -> I) (eps : R).
Variables laws laws' : I -> nat -> law.
Variable order : I -> list nat.
Variable phi : I -> history -> history.
Variable s : I -> history -> Z -> Z.
Variable c : I -> history -> Z -> R.
Local Notation T := (halting_with M part).

(** Suppose that part i of the output fixes how many draws there are and their laws, on both sides; that phi keeps the output and
    moves draws by s, which sees them in the given order; and that C1 to C7, read in this order, hold. Then the bound holds for
    every S. *)
Theorem theorem_A_prime :
  (forall i x, T i x -> Permutation (order i) (seq 0 (length x)) /\ draws_from M (laws i) x) ->
  (forall i x, T i x -> length (phi i x) = length x /\ draws_from M' (laws' i) (phi i x)) ->
  (forall i x o, T i x -> M x = End o -> M' (phi i x) = End o) ->
  (forall i x, T i x -> reorder (order i) (phi i x) = move (s i) (reorder (order i) x)) ->
  (forall i, aligned (in_order (laws i) (order i)) (in_order (laws' i) (order i)) (s i) (c i)
               (fun y => exists x, T i x /\ y = reorder (order i) x) eps) ->
  forall S : O -> Prop, probability M S <= exp eps * probability M' S.
Proof.
  intros Hfixed Hother Houtput Hmoved Haligned. apply (bound_by_parts M M' part eps phi Houtput).
  - intros i x Hx. destruct (Hfixed i x Hx) as [Horder Hdraws], (Hother i x Hx) as [Hlen Hdraws'].
    destruct (Haligned i) as (H1 & _ & _ & H6 & H7).
    rewrite (weight_reordered M (laws i) (order i) x Hdraws Horder).
    rewrite (weight_reordered M' (laws' i) (order i) (phi i x) Hdraws') by (rewrite Hlen; exact Horder).
    rewrite (Hmoved i x Hx). apply (weight_within _ _ _ _ _ eps _ H1 H6 H7); [now exists x|].
    rewrite <- (weight_reordered M (laws i) (order i) x Hdraws Horder). apply Hx.
  - intros i x y Hx Hy E. destruct (Hfixed i x Hx) as [Horder _], (Hfixed i y Hy) as [Horder' _].
    apply (reorder_injective (order i)); [exact Horder | |].
    + pose proof (Permutation_length Horder) as Hl. pose proof (Permutation_length Horder') as Hl'.
      rewrite seq_length in Hl, Hl'. congruence.
    + destruct (Haligned i) as (_ & _ & H4 & _).
      apply (move_injective (s i) _ _ _ H4); [apply begins_itself; now exists x | apply begins_itself; now exists y|].
      now rewrite <- (Hmoved i x Hx), <- (Hmoved i y Hy), E.
Qed.
End InOrder.
