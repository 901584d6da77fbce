(** The rules by which the kernel of certificates refutes a denied obligation, under fixed values of all variables.

    What is shown: a lemma's terms cannot add up to a contradiction while its rows hold, an integer comparison may be rounded, and a
    closed tree of cases leaves no way to make all clauses true. That the checker applies these rules as stated is not shown here. *)

From Coq Require Import Reals List ZArith Lra Lia.
From Dpaudit Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(** A row compares the value of a polynomial with 0. *)
Inductive relation := AtMost | Below | Equal.
Definition row : Type := relation * R.

Definition holds (r : row) : Prop :=
  match fst r with
  | AtMost => snd r <= 0
  | Below => snd r < 0
  | Equal => snd r = 0
  end.

Definition is_equal (r : row) : bool := match fst r with Equal => true | _ => false end.
Definition is_below (r : row) : bool := match fst r with Below => true | _ => false end.

(** A term: a multiplier, some rows, and some polynomials that are squared, all by their values. *)
Record term := Term { multiplier : R; factors : list row; squares : list R }.

Fixpoint product (l : list R) : R :=
  match l with
  | [] => 1
  | x :: rest => x * product rest
  end.

Definition term_value (t : term) : R :=
  multiplier t * (- product (map (fun r => - snd r) (factors t)) * product (map (fun x => x * x) (squares t))).

(** The kernel takes any multiplier where a row is an equation, else one that is not negative. *)
Definition allowed (t : term) : Prop := existsb is_equal (factors t) = true \/ 0 <= multiplier t.

(** When it counts a term as below 0. *)
Definition strict (t : term) : Prop :=
  factors t <> [] /\ squares t = [] /\ forallb is_below (factors t) = true /\ 0 < multiplier t.

Lemma product_nonneg l : (forall x, In x l -> 0 <= x) -> 0 <= product l.
Proof. induction l as [|x l IH]; simpl; intros H; [lra|]. apply Rmult_le_pos; auto. Qed.

Lemma negated_nonneg rows : (forall r, In r rows -> holds r) -> 0 <= product (map (fun r => - snd r) rows).
Proof.
  intros H. apply product_nonneg. intros x Hx. apply in_map_iff in Hx as ([k v] & <- & Hr).
  specialize (H _ Hr). unfold holds in H. simpl in *. destruct k; lra.
Qed.

Lemma equation_zero rows : (forall r, In r rows -> holds r) -> existsb is_equal rows = true ->
  product (map (fun r => - snd r) rows) = 0.
Proof.
  induction rows as [|[k v] rows IH]; simpl; intros H He; [discriminate|]. apply Bool.orb_true_iff in He as [He|He].
  - pose proof (H _ (or_introl eq_refl)) as Hv. unfold holds, is_equal in *. simpl in *. destruct k; try discriminate.
    rewrite Hv. ring.
  - rewrite IH by auto. ring.
Qed.

Lemma all_below_positive rows : (forall r, In r rows -> holds r) -> forallb is_below rows = true ->
  0 < product (map (fun r => - snd r) rows).
Proof.
  induction rows as [|[k v] rows IH]; simpl; intros H Hb; [lra|]. apply Bool.andb_true_iff in Hb as [Hk Hb].
  apply Rmult_lt_0_compat; [|auto]. pose proof (H _ (or_introl eq_refl)) as Hv. unfold holds, is_below in *. simpl in *.
  destruct k; try discriminate. lra.
Qed.

Lemma term_at_most_zero t : allowed t -> (forall r, In r (factors t) -> holds r) -> term_value t <= 0.
Proof.
  intros Ha H. unfold term_value. pose proof (negated_nonneg _ H) as Hn.
  assert (Hs : 0 <= product (map (fun x => x * x) (squares t))).
  { apply product_nonneg. intros x Hx. apply in_map_iff in Hx as (y & <- & _). apply Rle_0_sqr. }
  destruct Ha as [He|Hm].
  - rewrite (equation_zero _ H He). lra.
  - pose proof (Rmult_le_pos _ _ Hm (Rmult_le_pos _ _ Hn Hs)). lra.
Qed.

Lemma strict_below_zero t : strict t -> (forall r, In r (factors t) -> holds r) -> term_value t < 0.
Proof.
  intros (_ & Hs & Hb & Hm) H. unfold term_value. rewrite Hs. simpl. pose proof (all_below_positive _ H Hb) as Hp.
  pose proof (Rmult_lt_0_compat _ _ Hm Hp). lra.
Qed.

(** If the terms add up to a positive number, or to 0 with a strict term among them, some row does not hold. *)
Theorem lemma_rule (rows : list row) (terms : list term) :
  (forall t, In t terms -> allowed t /\ incl (factors t) rows) ->
  (0 < sum_over term_value terms \/ (sum_over term_value terms = 0 /\ exists t, In t terms /\ strict t)) ->
  ~ (forall r, In r rows -> holds r).
Proof.
  intros Hterms Hsum Hrows.
  assert (Hall : forall l, incl l terms -> sum_over term_value l <= 0).
  { induction l as [|t l IH]; simpl; intros Hl; [lra|]. destruct (Hterms t (Hl t (or_introl eq_refl))) as [Ha Hf].
    pose proof (term_at_most_zero t Ha (fun r Hr => Hrows r (Hf r Hr))).
    pose proof (IH (fun u Hu => Hl u (or_intror Hu))). lra. }
  destruct Hsum as [Hpos | (Hzero & t & Ht & Hstrict)].
  - pose proof (Hall terms (fun u Hu => Hu)). lra.
  - destruct (Hterms t Ht) as [_ Hf]. pose proof (strict_below_zero t Hstrict (fun r Hr => Hrows r (Hf r Hr))) as Hneg.
    destruct (in_split t terms Ht) as (before & after & E). rewrite E, sum_over_app in Hzero. simpl in Hzero.
    assert (sum_over term_value before <= 0) by (apply Hall; rewrite E; intros u Hu; apply in_or_app; now left).
    assert (sum_over term_value after <= 0) by (apply Hall; rewrite E; intros u Hu; apply in_or_app; now right; right). lra.
Qed.

(** Rounding: m is the integer value of all but the constant c. *)
Theorem rounding (m up down : Z) (c : R) :
  IZR up - 1 < c <= IZR up -> IZR down <= c < IZR down + 1 ->
  (IZR m + c <= 0 <-> (m + up <= 0)%Z) /\ (IZR m + c < 0 <-> (m + (down + 1) <= 0)%Z)
  /\ (IZR m + c = 0 -> c = IZR (- m)).
Proof.
  intros Hup Hdown. repeat split.
  - intros H. apply Z.lt_succ_r. apply lt_IZR. rewrite succ_IZR, plus_IZR. lra.
  - intros H. apply IZR_le in H. rewrite plus_IZR in H. lra.
  - intros H. assert (m + down < 0)%Z; [|lia]. apply lt_IZR. rewrite plus_IZR. lra.
  - intros H. apply IZR_le in H. rewrite !plus_IZR in H. lra.
  - intros H. rewrite opp_IZR. lra.
Qed.

(** Cases. A literal is an atom or its denial; v says which atoms are true. *)
Definition literal : Type := bool * nat.
Definition denied (l : literal) : literal := (negb (fst l), snd l).

Section Cases.
Variable v : nat -> Prop.
Definition is_true (l : literal) : Prop := if fst l then v (snd l) else ~ v (snd l).

Lemma denied_true l : is_true (denied l) <-> ~ is_true l.
Proof. destruct l as [[] n]; unfold is_true; simpl; [reflexivity|]. split; [tauto | apply Classical_Prop.NNPP]. Qed.

Variable clauses : list (list literal).

(** What follows from assumptions, clause by clause: a literal whose companions in a clause are all denied. *)
Inductive follows (assumed : list literal) : literal -> Prop :=
| Assumed l : In l assumed -> follows assumed l
| Unit c l : In c clauses -> (forall other, In other c -> other <> l -> follows assumed (denied other)) -> follows assumed l.

(** A tree of cases each of which ends at a literal that follows together with its denial. *)
Inductive closes (assumed : list literal) : Prop :=
| Conflict l : follows assumed l -> follows assumed (denied l) -> closes assumed
| Failing c : In c clauses -> (forall l, In l c -> follows assumed (denied l)) -> closes assumed
| Split l : closes (l :: assumed) -> closes (denied l :: assumed) -> closes assumed.

Hypothesis all_true : forall c, In c clauses -> exists l, In l c /\ is_true l.

Lemma follows_true assumed l : (forall a, In a assumed -> is_true a) -> follows assumed l -> is_true l.
Proof.
  intros Ha H. induction H as [l Hl | c l Hc _ IH]; [auto|].
  destruct (all_true c Hc) as (other & Hin & Htrue). apply Classical_Prop.NNPP. intros Hl.
  apply (proj1 (denied_true other)); [|exact Htrue]. apply (IH other Hin). now intros ->.
Qed.

Theorem cases_rule : ~ closes [].
Proof.
  assert (H : forall assumed, closes assumed -> (forall a, In a assumed -> is_true a) -> False).
  { intros assumed H. induction H as [assumed l Hl Hd | assumed c Hc Hd | assumed l _ IH1 _ IH2]; intros Ha.
    - apply (proj1 (denied_true l) (follows_true _ _ Ha Hd)). exact (follows_true _ _ Ha Hl).
    - destruct (all_true c Hc) as (l & Hl & Htrue). exact (proj1 (denied_true l) (follows_true _ _ Ha (Hd l Hl)) Htrue).
    - destruct (Classical_Prop.classic (is_true l)) as [Hl|Hl].
      + apply IH1. intros a [<-|Hin]; auto.
      + apply IH2. intros a [<-|Hin]; [now apply denied_true | auto]. }
  intros Hclosed. apply (H [] Hclosed). intros a [].
Qed.
End Cases.
