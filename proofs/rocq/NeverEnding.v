(** Theorem C: programs that may draw for ever. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums Histories Programs Alignment.
Open Scope R_scope.

(** The program stopped at its n-th draw: at least n draws are about as likely on D as on D'. *)
Lemma alive_bound {O} (M M' : program O) s c eps :
  aligned M M' s c (possible M) eps -> forall n, alive M n <= exp eps * alive M' n.
Proof.
  intros (H1 & _ & H4 & H6 & H7) n.
  apply (total_transport _ _ _ _ _ _ (move s)).
  - apply weight_nonneg.
  - left. apply exp_pos.
  - intros x Hx Hw. split; [now rewrite move_length|]. now apply (weight_within M M' s c (possible M)).
  - intros x y _ _ Hx Hy. apply (move_injective s (possible M)); [exact H4 | |]; now apply begins_itself.
Qed.

(** If C1 to C7 hold on every history that a run on D can have, then the bound holds for every set S of outputs, for "draws for
    ever", and for both together. *)
Theorem theorem_C {O} (M M' : program O) s c eps :
  aligned M M' s c (possible M) eps ->
  (forall S : O -> Prop, probability M S <= exp eps * probability M' S)
  /\ never M <= exp eps * never M'
  /\ (forall S : O -> Prop, probability M S + never M <= exp eps * (probability M' S + never M')).
Proof.
  intros H.
  assert (HS : forall S : O -> Prop, probability M S <= exp eps * probability M' S).
  { apply (theorem_A M M' s c). apply aligned_on_fewer with (2 := H). now intros x [Hx _]. }
  assert (Hnever : never M <= exp eps * never M').
  { apply (limit_le (alive M) (fun n => exp eps * alive M' n)).
    - apply never_is_limit.
    - apply (CV_mult (fun _ => exp eps) (alive M')); [|apply never_is_limit].
      intros d Hd. exists 0%nat. intros n _. unfold R_dist. rewrite Rminus_diag_eq, Rabs_R0; [exact Hd | reflexivity].
    - exact (alive_bound M M' s c eps H). }
  repeat split; [exact HS | exact Hnever|]. intros S. specialize (HS S). lra.
Qed.
