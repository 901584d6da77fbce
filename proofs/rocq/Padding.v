(** Theorem P: a program whose loops run over a list of records draws and ends in the same way on a padded list, in which some
    entries are marked as absent. So neighbours of unequal length become neighbours of equal length.

    Programs are those that use the data in loops only; `len` is a loop that counts, and `enumerate` keeps a counter. A body may
    draw, loop again, continue, break and return. Every run ends: `while` is not covered. *)

From Coq Require Import Reals List ZArith Lra FunctionalExtensionality.
From Dpaudit Require Import Sums Histories Programs.
Import ListNotations.
Open Scope R_scope.

(** How a round of a loop ends: with the state for the next round, by `break`, or by returning from the whole. *)
Inductive round (S A : Type) := Next (s : S) | Break (s : S) | Return (a : A).
Arguments Next {S A} s.
Arguments Break {S A} s.
Arguments Return {S A} a.

(** A text that gives a value of type A and loops over records of type X. *)
Inductive text (X : Type) : Type -> Type :=
| Give A (a : A) : text X A
| Ask A (l : law) (next : Z -> text X A) : text X A
| For A S (start : S) (body : X -> S -> text X (round S A)) (next : S -> text X A) : text X A.
Arguments Give {X A} a.
Arguments Ask {X A} l next.
Arguments For {X A S} start body next.

(** What a run does: it gives a value, or draws and goes on with the value drawn. *)
Inductive behaviour (A : Type) := Done (a : A) | Request (l : law) (next : Z -> behaviour A).
Arguments Done {A} a.
Arguments Request {A} l next.

Fixpoint followed_by {A B} (b : behaviour A) (k : A -> behaviour B) : behaviour B :=
  match b with
  | Done a => k a
  | Request l next => Request l (fun v => followed_by (next v) k)
  end.

(** The rounds of one loop. *)
Fixpoint rounds {X A S} (body : X -> S -> behaviour (round S A)) (next : S -> behaviour A) (xs : list X) (s : S) : behaviour A :=
  match xs with
  | [] => next s
  | x :: rest => followed_by (body x s) (fun r => match r with
                                                  | Next s' => rounds body next rest s'
                                                  | Break s' => next s'
                                                  | Return a => Done a
                                                  end)
  end.

Fixpoint run {X A} (data : list X) (t : text X A) : behaviour A :=
  match t with
  | Give a => Done a
  | Ask l next => Request l (fun v => run data (next v))
  | For start body next => rounds (fun x s => run data (body x s)) (fun s => run data (next s)) data start
  end.

(** A padded record: whether it is present, and its value. *)
Definition present {X} (padded : list (bool * X)) : list X := map snd (filter fst padded).

(** pad(P): each body is passed over where the record is absent. *)
Fixpoint pad {X A} (t : text X A) : text (bool * X) A :=
  match t with
  | Give a => Give a
  | Ask l next => Ask l (fun v => pad (next v))
  | For start body next =>
      For start (fun (p : bool * X) s => if fst p then pad (body (snd p) s) else Give (Next s)) (fun s => pad (next s))
  end.

(** On every padded list pad(P) makes the same draws from the same laws, and gives the same value, as P on the records present. *)
Theorem theorem_P {X A} (t : text X A) (padded : list (bool * X)) : run padded (pad t) = run (present padded) t.
Proof.
  induction t as [A a | A l next IH | A S start body IHbody next IHnext]; simpl.
  - reflexivity.
  - f_equal. extensionality v. apply IH.
  - assert (Hrounds : forall (entries : list (bool * X)) s,
      rounds (fun (p : bool * X) s => run padded (if fst p then pad (body (snd p) s) else Give (Next s))) (fun s => run padded (pad (next s))) entries s
      = rounds (fun x s => run (present padded) (body x s)) (fun s => run (present padded) (next s)) (present entries) s).
    { induction entries as [|[here x] entries IH]; intros s; [apply IHnext|]. destruct here; simpl; [|apply IH].
      rewrite IHbody. f_equal. extensionality r. destruct r; [apply IH | apply IHnext | reflexivity]. }
    apply Hrounds.
Qed.

(** A behaviour as a program; `past` has the oldest draw first. *)
Fixpoint after {O} (b : behaviour O) (past : list Z) : action O :=
  match b, past with
  | Done o, _ => End o
  | Request l _, [] => Draw l
  | Request _ next, v :: rest => after (next v) rest
  end.

Definition program_of {O} (b : behaviour O) : program O := fun x => after b (rev x).

(** Padded lists with equal values, of which one entry is present in the first and absent in the second. *)
Inductive one_leaves {X} : list (bool * X) -> list (bool * X) -> Prop :=
| Leaves x rest : one_leaves ((true, x) :: rest) ((false, x) :: rest)
| Stays p rest rest' : one_leaves rest rest' -> one_leaves (p :: rest) (p :: rest').

Lemma present_all {X} (xs : list X) : present (map (pair true) xs) = xs.
Proof. unfold present. induction xs as [|x xs IH]; simpl; congruence. Qed.

Lemma present_app {X} (p q : list (bool * X)) : present (p ++ q) = present p ++ present q.
Proof. unfold present. now rewrite filter_app, map_app. Qed.

(** If pad(P) keeps the claim on all such padded lists, in both directions, then P keeps it where a record is added or removed. *)
Theorem add_remove {X O} (t : text X O) eps :
  (forall p p' S, one_leaves p p' ->
     probability (program_of (run p (pad t))) S <= exp eps * probability (program_of (run p' (pad t))) S
     /\ probability (program_of (run p' (pad t))) S <= exp eps * probability (program_of (run p (pad t))) S) ->
  forall xs x ys S,
    probability (program_of (run (xs ++ x :: ys) t)) S <= exp eps * probability (program_of (run (xs ++ ys) t)) S
    /\ probability (program_of (run (xs ++ ys) t)) S <= exp eps * probability (program_of (run (xs ++ x :: ys) t)) S.
Proof.
  intros H xs x ys S.
  pose (entries := fun here => map (pair true) xs ++ (here, x) :: map (pair true) ys).
  assert (Hone : one_leaves (entries true) (entries false)).
  { unfold entries. induction xs as [|y xs IH]; simpl; constructor; exact IH. }
  assert (Hwith : present (entries true) = xs ++ x :: ys).
  { unfold entries. rewrite present_app, present_all. f_equal. unfold present. simpl. f_equal. apply present_all. }
  assert (Hwithout : present (entries false) = xs ++ ys).
  { unfold entries. rewrite present_app, present_all. f_equal. apply present_all. }
  rewrite <- Hwith, <- Hwithout, <- !theorem_P. exact (H _ _ S Hone).
Qed.
