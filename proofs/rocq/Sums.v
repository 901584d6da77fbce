(** Sums of non-negative numbers over finite lists and over countable sets.

    A countable sum is the least upper bound of the sums over duplicate-free finite lists, so no order of terms and no measure
    theory enters. *)

From Coq Require Import Reals List Lra Lia.
Import ListNotations.
Open Scope R_scope.

Section Finite.
Context {A : Type}.

Fixpoint sum_over (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 0
  | x :: rest => f x + sum_over f rest
  end.

Lemma sum_over_app f l m : sum_over f (l ++ m) = sum_over f l + sum_over f m.
Proof. induction l as [|x l IH]; simpl; [lra | rewrite IH; lra]. Qed.

Lemma sum_over_nonneg f l : (forall x, In x l -> 0 <= f x) -> 0 <= sum_over f l.
Proof.
  induction l as [|x l IH]; simpl; intros H; [lra|].
  pose proof (H x (or_introl eq_refl)). pose proof (IH (fun y Hy => H y (or_intror Hy))). lra.
Qed.

Lemma sum_over_le f g l : (forall x, In x l -> f x <= g x) -> sum_over f l <= sum_over g l.
Proof.
  induction l as [|x l IH]; simpl; intros H; [lra|].
  pose proof (H x (or_introl eq_refl)). pose proof (IH (fun y Hy => H y (or_intror Hy))). lra.
Qed.

Lemma sum_over_eq f g l : (forall x, In x l -> f x = g x) -> sum_over f l = sum_over g l.
Proof. intros H. apply Rle_antisym; apply sum_over_le; intros x Hx; rewrite (H x Hx); lra. Qed.

Lemma sum_over_scale k f l : sum_over (fun x => k * f x) l = k * sum_over f l.
Proof. induction l as [|x l IH]; simpl; [lra | rewrite IH; lra]. Qed.

Lemma sum_over_plus f g l : sum_over (fun x => f x + g x) l = sum_over f l + sum_over g l.
Proof. induction l as [|x l IH]; simpl; [lra | rewrite IH; lra]. Qed.

Lemma sum_over_zero f l : (forall x, In x l -> f x = 0) -> sum_over f l = 0.
Proof.
  induction l as [|x l IH]; simpl; intros H; [lra|].
  rewrite (H x (or_introl eq_refl)), IH; [lra | intros y Hy; apply H; now right].
Qed.

Lemma sum_over_split (keep : A -> bool) f l :
  sum_over f l = sum_over f (filter keep l) + sum_over f (filter (fun x => negb (keep x)) l).
Proof. induction l as [|x l IH]; simpl; [lra|]. destruct (keep x); simpl; lra. Qed.

(** Terms that vanish may be left out. *)
Lemma sum_over_filter (keep : A -> bool) f l :
  (forall x, In x l -> keep x = false -> f x = 0) -> sum_over f l = sum_over f (filter keep l).
Proof.
  intros H. rewrite (sum_over_split keep). rewrite (sum_over_zero f (filter (fun x => negb (keep x)) l)); [lra|].
  intros x Hx. apply filter_In in Hx as [Hx Hk]. apply H; [exact Hx|]. now destruct (keep x).
Qed.

(** More terms, larger sum. *)
Lemma sum_over_incl f l m : (forall x, 0 <= f x) -> NoDup l -> incl l m -> sum_over f l <= sum_over f m.
Proof.
  intros Hf Hl. revert m. induction Hl as [|x l Hx Hl IH]; intros m Hm; simpl.
  - apply sum_over_nonneg. auto.
  - destruct (in_split x m (Hm x (or_introl eq_refl))) as (m1 & m2 & ->).
    assert (Hincl : incl l (m1 ++ m2)).
    { intros y Hy. pose proof (Hm y (or_intror Hy)) as Hin. apply in_app_or in Hin. apply in_or_app.
      destruct Hin as [|[<-|]]; auto. contradiction. }
    pose proof (IH _ Hincl) as Hle. rewrite sum_over_app in *. simpl. lra.
Qed.
End Finite.

Lemma sum_over_map {A B} (g : A -> B) (f : B -> R) l : sum_over f (map g l) = sum_over (fun x => f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [lra | now rewrite IH]. Qed.

Lemma sum_over_flat_map {A B} (g : A -> list B) (f : B -> R) l :
  sum_over f (flat_map g l) = sum_over (fun x => sum_over f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [lra | now rewrite sum_over_app, IH]. Qed.

Lemma NoDup_map_on {A B} (g : A -> B) l :
  NoDup l -> (forall x y, In x l -> In y l -> g x = g y -> x = y) -> NoDup (map g l).
Proof.
  intros Hl. induction Hl as [|x l Hx Hl IH]; simpl; intros H; constructor.
  - intros Hin. apply in_map_iff in Hin as (y & Hy & Hyl). assert (y = x) by (apply H; auto). now subst.
  - apply IH. intros; apply H; auto.
Qed.

Lemma NoDup_append {A} (l m : list A) : NoDup l -> NoDup m -> (forall x, In x l -> ~ In x m) -> NoDup (l ++ m).
Proof.
  intros Hl Hm. induction Hl as [|x l Hx Hl IH]; simpl; intros H; [exact Hm|]. constructor.
  - intros Hin. apply in_app_or in Hin as [Hin|Hin]; [contradiction | apply (H x); auto].
  - apply IH. intros y Hy. apply H. now right.
Qed.

(** Terms are grouped by a key. *)
Section Grouping.
Context {A B : Type} (dec : forall x y : B, {x = y} + {x <> y}) (key : A -> B).

Definition with_key (k : B) (x : A) : bool := if dec (key x) k then true else false.

Lemma sum_over_one (c : R) k0 K :
  NoDup K -> In k0 K -> sum_over (fun k => if dec k0 k then c else 0) K = c.
Proof.
  intros HK. induction HK as [|k K Hk HK IH]; simpl; intros Hin; [contradiction|].
  destruct (dec k0 k) as [->|Hne].
  - rewrite sum_over_zero; [lra|]. intros y Hy. destruct (dec k y) as [->|]; [contradiction | reflexivity].
  - destruct Hin as [->|Hin]; [contradiction|]. rewrite (IH Hin). lra.
Qed.

Lemma sum_over_groups f l K :
  NoDup K -> incl (map key l) K -> sum_over f l = sum_over (fun k => sum_over f (filter (with_key k) l)) K.
Proof.
  intros HK. induction l as [|x l IH]; simpl; intros Hincl.
  - symmetry. now apply sum_over_zero.
  - rewrite IH by (intros y Hy; apply Hincl; now right).
    rewrite <- (sum_over_one (f x) (key x) K HK (Hincl _ (or_introl eq_refl))), <- sum_over_plus.
    apply sum_over_eq. intros k _. unfold with_key. destruct (dec (key x) k); simpl; lra.
Qed.
End Grouping.

(** Countable sums. *)
Section Countable.
Context {A : Type}.

Definition finite_sums (f : A -> R) (E : A -> Prop) (r : R) : Prop :=
  exists l, NoDup l /\ (forall x, In x l -> E x) /\ r = sum_over f l.

Definition summable (f : A -> R) (E : A -> Prop) : Prop := bound (finite_sums f E).

Lemma empty_sum f E : finite_sums f E 0.
Proof. exists []. repeat split; [constructor | contradiction]. Qed.

(** The sum of f over the set E. *)
Definition total (f : A -> R) (E : A -> Prop) (bounded : summable f E) : R :=
  proj1_sig (completeness (finite_sums f E) bounded (ex_intro _ 0 (empty_sum f E))).

Lemma total_is_lub f E H : is_lub (finite_sums f E) (total f E H).
Proof. unfold total. destruct completeness as [m Hm]. exact Hm. Qed.

Lemma finite_le_total f (E : A -> Prop) H l : NoDup l -> (forall x, In x l -> E x) -> sum_over f l <= total f E H.
Proof. intros Hl HE. apply (proj1 (total_is_lub f E H)). now exists l. Qed.

Lemma total_le f (E : A -> Prop) H b : (forall l, NoDup l -> (forall x, In x l -> E x) -> sum_over f l <= b) -> total f E H <= b.
Proof. intros Hb. apply (proj2 (total_is_lub f E H)). intros r (l & Hl & HE & ->). auto. Qed.

Lemma total_nonneg f E H : 0 <= total f E H.
Proof. apply (proj1 (total_is_lub f E H)), empty_sum. Qed.

Lemma total_mono f (E F : A -> Prop) HE HF : (forall x, E x -> F x) -> total f E HE <= total f F HF.
Proof. intros HEF. apply total_le. intros l Hl HlE. apply finite_le_total; auto. Qed.

Lemma total_ext f g (E F : A -> Prop) HE HF :
  (forall x, E x <-> F x) -> (forall x, E x -> f x = g x) -> total f E HE = total g F HF.
Proof.
  intros HEF Hfg. apply Rle_antisym; apply total_le; intros l Hl HlE.
  - rewrite (sum_over_eq f g) by auto. apply finite_le_total; [exact Hl|]. intros x Hx. now apply HEF, HlE.
  - rewrite <- (sum_over_eq f g) by (intros x Hx; now apply Hfg, HEF, HlE). apply finite_le_total; [exact Hl|].
    intros x Hx. now apply HEF, HlE.
Qed.

(** Some finite part comes as near to the sum as one likes. *)
Lemma total_near f (E : A -> Prop) H d : 0 < d -> exists l, NoDup l /\ (forall x, In x l -> E x) /\ total f E H - d < sum_over f l.
Proof.
  intros Hd. destruct (total_is_lub f E H) as [_ Hleast].
  destruct (Rlt_le_dec (total f E H - d) 0) as [Hneg|Hpos].
  - exists []. repeat split; [constructor | contradiction | exact Hneg].
  - apply Classical_Prop.NNPP. intros Hno.
    assert (total f E H <= total f E H - d); [|lra].
    apply Hleast. intros r (l & Hl & HE & ->). apply Rnot_lt_le. intros Hlt. apply Hno. now exists l.
Qed.
End Countable.

(** A sum is at most k times another if a one-to-one map takes each term to one that is at least as large after multiplication by
    k. *)
Lemma total_transport {A B} (f : A -> R) (g : B -> R) (E : A -> Prop) (F : B -> Prop) HE HF (phi : A -> B) (k : R) :
  (forall x, 0 <= f x) -> 0 <= k ->
  (forall x, E x -> 0 < f x -> F (phi x) /\ f x <= k * g (phi x)) ->
  (forall x y, E x -> E y -> 0 < f x -> 0 < f y -> phi x = phi y -> x = y) ->
  total f E HE <= k * total g F HF.
Proof.
  intros Hf Hk Hphi Hinj. apply total_le. intros l Hl HlE.
  set (positive := fun x => if Rlt_dec 0 (f x) then true else false).
  rewrite (sum_over_filter positive).
  2:{ intros x _. unfold positive. destruct Rlt_dec; [discriminate|]. specialize (Hf x). lra. }
  assert (Hin : forall x, In x (filter positive l) -> E x /\ 0 < f x).
  { intros x Hx. apply filter_In in Hx as [Hx Hp]. split; [auto|]. unfold positive in Hp. now destruct Rlt_dec. }
  apply Rle_trans with (k * sum_over g (map phi (filter positive l))).
  - rewrite sum_over_map, <- sum_over_scale. apply sum_over_le. intros x Hx. now apply Hphi; apply Hin.
  - apply Rmult_le_compat_l; [exact Hk|]. apply finite_le_total.
    + apply NoDup_map_on; [now apply NoDup_filter|]. intros x y Hx Hy. now apply Hinj; apply Hin.
    + intros y Hy. apply in_map_iff in Hy as (x & <- & Hx). now apply Hphi; apply Hin.
Qed.

Lemma total_scale {A} (f : A -> R) (E : A -> Prop) H k : 0 <= k -> exists H', total (fun x => k * f x) E H' = k * total f E H.
Proof.
  intros Hk. assert (H' : summable (fun x => k * f x) E).
  { exists (k * total f E H). intros r (l & Hl & HE & ->). rewrite sum_over_scale.
    apply Rmult_le_compat_l; [exact Hk | now apply finite_le_total]. }
  exists H'. apply Rle_antisym.
  - apply total_le. intros l Hl HE. rewrite sum_over_scale. apply Rmult_le_compat_l; [exact Hk | now apply finite_le_total].
  - destruct (Req_dec k 0) as [->|Hne]; [rewrite Rmult_0_l; apply total_nonneg|].
    apply Rmult_le_reg_l with (/ k); [apply Rinv_0_lt_compat; lra|]. rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra.
    apply total_le. intros l Hl HE. apply Rmult_le_reg_l with k; [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    rewrite <- sum_over_scale. now apply finite_le_total.
Qed.

(** The sums over sets that have nothing in common add up to at most the sum over a set that holds them. *)
Lemma totals_of_parts {A B} (f : A -> R) (part : B -> A -> Prop) (F : A -> Prop) Hpart HF (K : list B) :
  NoDup K -> (forall k x, In k K -> part k x -> F x) ->
  (forall j k x, part j x -> part k x -> j = k) ->
  sum_over (fun k => total f (part k) (Hpart k)) K <= total f F HF.
Proof.
  intros HK HF' Hdisjoint.
  assert (Hnear : forall d, 0 < d -> exists l, NoDup l /\ (forall x, In x l -> exists k, In k K /\ part k x)
            /\ sum_over (fun k => total f (part k) (Hpart k)) K - INR (length K) * d <= sum_over f l).
  { intros d Hd. clear HF'. induction HK as [|k K Hk HK IH].
    - exists []. repeat split; [constructor | contradiction | simpl; lra].
    - destruct IH as (l & Hl & HlK & Hsum).
      destruct (total_near f (part k) (Hpart k) d Hd) as (m & Hm & HmE & Hn). exists (m ++ l). split; [|split].
      + apply NoDup_append; [exact Hm | exact Hl|]. intros x Hx Hx'. destruct (HlK x Hx') as (j & Hj & Hjx).
        now rewrite (Hdisjoint k j x (HmE x Hx) Hjx) in Hk.
      + intros x Hx. apply in_app_or in Hx as [Hx|Hx]; [exists k; split; [now left | auto]|].
        destruct (HlK x Hx) as (j & Hj & Hjx). exists j. split; [now right | exact Hjx].
      + rewrite sum_over_app. simpl length. rewrite S_INR. simpl sum_over at 1. lra. }
  apply Rnot_lt_le. intros Hlt. set (gap := sum_over (fun k => total f (part k) (Hpart k)) K - total f F HF).
  assert (Hgap : 0 < gap) by (unfold gap; lra).
  assert (Hlength : 0 < INR (length K) + 1) by (pose proof (pos_INR (length K)); lra).
  destruct (Hnear (gap / (INR (length K) + 1))) as (l & Hl & HlK & Hsum); [now apply Rdiv_lt_0_compat|].
  assert (Hle : sum_over f l <= total f F HF).
  { apply finite_le_total; [exact Hl|]. intros x Hx. destruct (HlK x Hx) as (k & Hk & Hkx). exact (HF' k x Hk Hkx). }
  assert (INR (length K) * (gap / (INR (length K) + 1)) < gap); [|unfold gap in *; lra].
  apply Rmult_lt_reg_r with (INR (length K) + 1); [exact Hlength|].
  replace (INR (length K) * (gap / (INR (length K) + 1)) * (INR (length K) + 1)) with (INR (length K) * gap) by (field; lra). lra.
Qed.

(** Limits keep inequalities. *)
Lemma limit_le (u w : nat -> R) p q : Un_cv u p -> Un_cv w q -> (forall n, u n <= w n) -> p <= q.
Proof.
  intros Hu Hw Hle. apply Rnot_lt_le. intros Hlt.
  destruct (Hu ((p - q) / 2)) as [n Hn]; [lra|]. destruct (Hw ((p - q) / 2)) as [m Hm]; [lra|].
  specialize (Hn (n + m)%nat ltac:(lia)). specialize (Hm (n + m)%nat ltac:(lia)). specialize (Hle (n + m)%nat).
  unfold R_dist in *. apply Rabs_def2 in Hn, Hm. lra.
Qed.
