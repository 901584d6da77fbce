-- A ledger on PostgreSQL 14 or newer. `dpaudit ledger init` runs this once, as the role that owns the ledger from then on.
-- Only `append` writes: it takes the one lock (the row of `head`), numbers, dates, signs and hashes each entry, and refuses one
-- that a budget does not cover. Whoever else connects can read what a row of `access` allows, and call it.

CREATE SCHEMA dpaudit;
REVOKE ALL ON SCHEMA dpaudit FROM PUBLIC;

-- Scopes of entries serve row-level security alone; an empty purpose stands for all purposes.
CREATE TABLE dpaudit.entry (
    number bigint PRIMARY KEY, kind text NOT NULL, time text NOT NULL, body text NOT NULL,
    hash bytea NOT NULL CHECK (length(hash) = 32), dataset text, unit text, purpose text
);
CREATE TABLE dpaudit.budget (
    number bigint PRIMARY KEY, dataset text NOT NULL, unit text NOT NULL, purpose text NOT NULL, limits jsonb NOT NULL,
    spent text NOT NULL, UNIQUE (dataset, unit, purpose)
) WITH (fillfactor = 50);
CREATE TABLE dpaudit.open_charge (number bigint PRIMARY KEY);
CREATE TABLE dpaudit.keyed (key text PRIMARY KEY, number bigint NOT NULL UNIQUE);
CREATE TABLE dpaudit.head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), number bigint NOT NULL, hash bytea NOT NULL, format int NOT NULL
) WITH (fillfactor = 50);
-- Changes that were made, or that never may be (no number): a client that lost its connection asks here, or forbids it here.
CREATE TABLE dpaudit.change (call text PRIMARY KEY, number bigint, entries int NOT NULL, role name NOT NULL);
CREATE TABLE dpaudit.access (
    role name NOT NULL, may text NOT NULL CHECK (may IN ('audit', 'spend')), dataset text NOT NULL, unit text NOT NULL,
    purpose text NOT NULL, PRIMARY KEY (role, may, dataset, unit, purpose)
);

CREATE FUNCTION dpaudit.no_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    RAISE EXCEPTION 'entries are never changed or removed' USING ERRCODE = 'DP805';
END $body$;
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON dpaudit.entry
    FOR EACH STATEMENT EXECUTE FUNCTION dpaudit.no_change();

-- Rights. All of these run as the owner, so that the role to ask about is the one that logged in.

-- (plpgsql keeps its plans, which plain SQL functions with settings do not.)

-- True if the role that logged in is another one, or belongs to it; false for a role that is gone.
CREATE FUNCTION dpaudit.is_member(of_role name) RETURNS boolean LANGUAGE plpgsql STABLE AS $body$
BEGIN
    RETURN coalesce(pg_has_role(session_user, to_regrole(quote_ident(of_role))::oid, 'MEMBER'), false);
END $body$;

CREATE FUNCTION dpaudit.is_auditor() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    RETURN dpaudit.is_member(current_user) OR EXISTS (
        SELECT FROM dpaudit.access a WHERE a.may = 'audit' AND dpaudit.is_member(a.role));
END $body$;

-- True if the role may spend on a scope.
CREATE FUNCTION dpaudit.may_spend(of_dataset text, of_unit text, of_purpose text) RETURNS boolean
    LANGUAGE plpgsql STABLE AS $body$
BEGIN
    RETURN dpaudit.is_member(current_user) OR EXISTS (
        SELECT FROM dpaudit.access a
        WHERE a.may = 'spend' AND a.dataset = of_dataset AND a.unit = of_unit AND a.purpose IN ('', of_purpose)
            AND dpaudit.is_member(a.role));
END $body$;

-- True if the role may read what is about a scope; of budgets also those that pay for a scope of its own.
CREATE FUNCTION dpaudit.may_read(of_dataset text, of_unit text, of_purpose text, is_budget boolean) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    RETURN of_dataset IS NULL OR dpaudit.is_member(current_user) OR EXISTS (
        SELECT FROM dpaudit.access a
        WHERE (a.may = 'audit' OR (
            a.dataset = of_dataset AND a.unit = of_unit
            AND (a.purpose IN ('', of_purpose) OR (is_budget AND of_purpose = '')))) AND dpaudit.is_member(a.role));
END $body$;

ALTER TABLE dpaudit.entry ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON dpaudit.entry FOR SELECT USING (dpaudit.may_read(dataset, unit, purpose, kind = 'budget'));
ALTER TABLE dpaudit.budget ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON dpaudit.budget FOR SELECT USING (dpaudit.may_read(dataset, unit, purpose, true));
ALTER TABLE dpaudit.open_charge ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON dpaudit.open_charge FOR SELECT USING (EXISTS (SELECT FROM dpaudit.entry e WHERE e.number = open_charge.number));
ALTER TABLE dpaudit.keyed ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON dpaudit.keyed FOR SELECT USING (EXISTS (SELECT FROM dpaudit.entry e WHERE e.number = keyed.number));

-- The hash of any entry, so that a spender can check the opening of a budget against the entry before, which it may not read.
CREATE FUNCTION dpaudit.hash_of(of_number bigint) RETURNS bytea
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    RETURN (SELECT e.hash FROM dpaudit.entry e WHERE e.number = of_number);
END $body$;

-- What open charges of all roles could give back, which a release without a price takes as well.
CREATE FUNCTION dpaudit.pending() RETURNS TABLE (number bigint, body text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    SELECT e.number, jsonb_build_object('amounts', e.body::jsonb -> 'amounts')::text
    FROM dpaudit.open_charge o JOIN dpaudit.entry e ON e.number = o.number
$body$;

-- The functions that follow are called by definers alone, whose search path holds for them; a path of their own costs too much.

-- JSON as Python's json.dumps(sort_keys=True, separators=(",", ":")) writes it; integers are the only numbers.

CREATE FUNCTION dpaudit.quoted(value text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT AS $body$
DECLARE
    escaped text;
BEGIN
    IF value COLLATE "C" ~ '^[ !#-[^-~]*$' THEN
        RETURN '"' || value || '"';
    END IF;
    escaped := to_json(value)::text;
    IF escaped COLLATE "C" ~ '^[ -~]*$' THEN
        RETURN escaped;
    END IF;
    RETURN (
        SELECT string_agg(
            CASE WHEN ascii(letter) < 127 THEN letter
                WHEN ascii(letter) < 65536 THEN '\u' || lpad(to_hex(ascii(letter)), 4, '0')
                ELSE '\u' || to_hex(55296 + ((ascii(letter) - 65536) >> 10)) || '\u' || to_hex(56320 + ((ascii(letter) - 65536) & 1023))
            END, '' ORDER BY place)
        FROM regexp_split_to_table(escaped, '') WITH ORDINALITY AS letters (letter, place));
END $body$;

CREATE FUNCTION dpaudit.canonical(value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT AS $body$
BEGIN
    CASE jsonb_typeof(value)
        WHEN 'string' THEN
            RETURN dpaudit.quoted(value #>> '{}');
        WHEN 'object' THEN
            RETURN '{' || coalesce((
                SELECT string_agg(dpaudit.quoted(name) || ':' || dpaudit.canonical(part), ',' ORDER BY name COLLATE "C")
                FROM jsonb_each(value) AS parts (name, part)), '') || '}';
        WHEN 'array' THEN
            RETURN '[' || coalesce((
                SELECT string_agg(dpaudit.canonical(part), ',' ORDER BY place)
                FROM jsonb_array_elements(value) WITH ORDINALITY AS parts (part, place)), '') || ']';
        WHEN 'number' THEN
            IF value::text !~ '^-?[0-9]+$' OR length(value::text) > 4000 THEN
                RAISE EXCEPTION 'numbers of an entry are integers' USING ERRCODE = 'DP805';
            END IF;
            RETURN value::text;
        ELSE
            RETURN value::text;
    END CASE;
END $body$;

-- Exact fractions as text, "3/8" or "2", in lowest terms as Python's Fraction writes them.

CREATE FUNCTION dpaudit.fraction(value text) RETURNS numeric[]
    LANGUAGE plpgsql IMMUTABLE STRICT AS $body$
BEGIN
    IF value !~ '^-?[0-9]+(/[1-9][0-9]*)?$' OR length(value) > 8000 THEN
        RAISE EXCEPTION 'an amount is a fraction of at most 8000 digits' USING ERRCODE = 'DP805';
    END IF;
    RETURN ARRAY[split_part(value, '/', 1)::numeric, coalesce(nullif(split_part(value, '/', 2), ''), '1')::numeric];
END $body$;

CREATE FUNCTION dpaudit.plus(one text, other text, sign int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT AS $body$
DECLARE
    a numeric[] := dpaudit.fraction(one);
    b numeric[] := dpaudit.fraction(other);
    above numeric := a[1] * b[2] + sign * b[1] * a[2];
    below numeric := a[2] * b[2];
    common numeric := gcd(above, below);
BEGIN
    RETURN div(above, common)::text || CASE WHEN below = common THEN '' ELSE '/' || div(below, common)::text END;
END $body$;

CREATE FUNCTION dpaudit.at_most(one text, other text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT AS $body$
DECLARE
    a numeric[] := dpaudit.fraction(one);
    b numeric[] := dpaudit.fraction(other);
BEGIN
    RETURN a[1] * b[2] <= b[1] * a[2];
END $body$;

-- Moves the totals of budgets by amounts, and returns the new totals; DP810 where a limit is passed and that is not allowed.
CREATE FUNCTION dpaudit.move(amounts jsonb, sign int, may_pass boolean) RETURNS jsonb
    LANGUAGE plpgsql AS $body$
DECLARE
    found record;
    total jsonb;
    totals jsonb := '{}';
    currency text;
    amount text;
    reached text;
BEGIN
    FOR found IN
        SELECT b.number, b.limits, b.spent::jsonb AS spent, parts.part
        FROM jsonb_each(amounts) AS parts (name, part) JOIN dpaudit.budget b ON b.number::text = parts.name
    LOOP
        IF ARRAY(SELECT jsonb_object_keys(found.part) ORDER BY 1) <> ARRAY(SELECT jsonb_object_keys(found.limits) ORDER BY 1) THEN
            RAISE EXCEPTION 'amounts are in the currencies of their budget' USING ERRCODE = 'DP805';
        END IF;
        total := '{}';
        FOR currency, amount IN SELECT * FROM jsonb_each_text(found.part) LOOP
            reached := dpaudit.plus(found.spent ->> currency, amount, sign);
            IF amount LIKE '-%' OR reached LIKE '-%' THEN
                RAISE EXCEPTION 'no amount and no total is below 0' USING ERRCODE = 'DP805';
            END IF;
            IF NOT may_pass AND NOT dpaudit.at_most(reached, found.limits ->> currency) THEN
                RAISE EXCEPTION 'budget % does not cover the charge', found.number USING ERRCODE = 'DP810';
            END IF;
            total := total || jsonb_build_object(currency, reached);
        END LOOP;
        UPDATE dpaudit.budget b SET spent = total::text WHERE b.number = found.number;
        totals := totals || jsonb_build_object(found.number::text, total);
    END LOOP;
    RETURN totals;
END $body$;

-- Refuses what is not a scope, in three parts, an empty one for all purposes.
CREATE FUNCTION dpaudit.scope_of(value text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE AS $body$
DECLARE
    parts text[] := string_to_array(value, '/');
BEGIN
    IF coalesce(cardinality(parts), 0) NOT IN (2, 3) OR '' = ANY (parts) OR length(value) > 302 THEN
        RAISE EXCEPTION 'a scope has two or three parts' USING ERRCODE = 'DP805';
    END IF;
    RETURN ARRAY[parts[1], parts[2], coalesce(parts[3], '')];
END $body$;

-- Does what one new entry says, and returns its scope and the totals that it moved; the lock is held.
CREATE FUNCTION dpaudit.follow(kind text, body jsonb, number bigint, before jsonb, OUT scope text[], OUT spent jsonb)
    LANGUAGE plpgsql AS $body$
#variable_conflict use_variable
DECLARE
    charge record;
    paying text[];
BEGIN
    spent := '{}';
    IF kind IN ('budget', 'moved') AND NOT dpaudit.is_member(current_user) THEN
        RAISE EXCEPTION 'only the owner of the ledger opens budgets and moves it' USING ERRCODE = '42501';
    END IF;
    IF kind IN ('repeat', 'commit', 'cancel', 'overrun') THEN
        SELECT e.number, e.kind, e.body::jsonb AS body, e.dataset, e.unit, e.purpose INTO charge
        FROM dpaudit.entry e WHERE e.number = (body ->> 'charge')::bigint AND e.kind IN ('spend', 'reserve');
        IF NOT FOUND OR NOT dpaudit.may_spend(charge.dataset, charge.unit, charge.purpose) OR (
            charge.body ->> 'by' IS DISTINCT FROM session_user AND NOT dpaudit.is_member(current_user))
        THEN
            RAISE EXCEPTION 'the charge was made by another role' USING ERRCODE = '42501';
        END IF;
        scope := ARRAY[charge.dataset, charge.unit, charge.purpose];
    END IF;
    CASE kind
        WHEN 'budget' THEN
            scope := dpaudit.scope_of(body ->> 'scope');
            IF EXISTS (SELECT FROM dpaudit.budget b WHERE (b.dataset, b.unit, b.purpose) = (scope[1], scope[2], scope[3])) THEN
                RAISE EXCEPTION 'the scope has a budget' USING ERRCODE = 'DP802';
            END IF;
            INSERT INTO dpaudit.budget VALUES (number, scope[1], scope[2], scope[3], body -> 'limits', (
                SELECT jsonb_object_agg(name, '0')::text FROM jsonb_object_keys(body -> 'limits') AS names (name)));
        WHEN 'spend', 'reserve' THEN
            scope := dpaudit.scope_of(body ->> 'scope');
            IF NOT dpaudit.may_spend(scope[1], scope[2], scope[3]) THEN
                RAISE EXCEPTION 'the role may not spend on this scope' USING ERRCODE = '42501';
            END IF;
            IF body ->> 'note' IS NULL OR length(body ->> 'note') > 200 OR (body ->> 'note') || (body ->> 'spending') ~ '[[:cntrl:]]' THEN
                RAISE EXCEPTION 'a note has at most 200 letters' USING ERRCODE = 'DP805';
            END IF;
            IF body ? 'key' AND (jsonb_typeof(body -> 'key') <> 'string' OR length(body ->> 'key') NOT BETWEEN 1 AND 200) THEN
                RAISE EXCEPTION 'a key has 1 to 200 letters' USING ERRCODE = 'DP805';
            END IF;
            paying := ARRAY(SELECT b.number::text FROM dpaudit.budget b
                WHERE b.dataset = scope[1] AND b.unit = scope[2] AND b.purpose IN ('', scope[3]) ORDER BY b.number::text COLLATE "C");
            IF paying = '{}' OR paying <> ARRAY(
                SELECT name FROM jsonb_object_keys(body -> 'amounts') AS names (name) ORDER BY name COLLATE "C")
            THEN
                RAISE EXCEPTION 'a charge is paid for by the budgets of its scope' USING ERRCODE = 'DP811';
            END IF;
            spent := dpaudit.move(body -> 'amounts', 1, false);
            IF body ? 'key' THEN
                IF EXISTS (SELECT FROM dpaudit.keyed k WHERE k.key = body ->> 'key') THEN
                    RAISE EXCEPTION 'the key has a charge' USING ERRCODE = 'DP815';
                END IF;
                INSERT INTO dpaudit.keyed VALUES (body ->> 'key', number);
            END IF;
            IF kind = 'reserve' THEN
                INSERT INTO dpaudit.open_charge VALUES (number);
            END IF;
        WHEN 'repeat' THEN
            IF NOT charge.body ? 'key' OR (
                charge.kind = 'reserve' AND NOT EXISTS (SELECT FROM dpaudit.open_charge o WHERE o.number = charge.number))
            THEN
                RAISE EXCEPTION 'the charge of this key has ended' USING ERRCODE = 'DP815';
            END IF;
        WHEN 'commit', 'cancel' THEN
            DELETE FROM dpaudit.open_charge o WHERE o.number = charge.number;
            IF NOT FOUND OR (kind = 'cancel' AND charge.body ? 'key') THEN
                RAISE EXCEPTION 'the charge is not open, or has a key' USING ERRCODE = 'DP806';
            END IF;
            IF kind = 'cancel' THEN
                spent := dpaudit.move(charge.body -> 'amounts', -1, true);
            END IF;
        WHEN 'overrun' THEN
            IF before ->> 'charge' IS DISTINCT FROM body ->> 'charge' OR NOT before ? 'ran' OR EXISTS (
                SELECT FROM jsonb_object_keys(body -> 'amounts') AS names (name) WHERE NOT charge.body -> 'amounts' ? name)
            THEN
                RAISE EXCEPTION 'an overrun follows the commit of its charge' USING ERRCODE = 'DP806';
            END IF;
            spent := dpaudit.move(body -> 'amounts', 1, true);
        WHEN 'moved' THEN
            scope := NULL;
        ELSE
            RAISE EXCEPTION 'no entry of this kind is appended' USING ERRCODE = 'DP805';
    END CASE;
END $body$;

-- Takes the lock for several calls of one transaction.
CREATE FUNCTION dpaudit.hold() RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    SELECT number FROM dpaudit.head FOR UPDATE
$body$;

-- Appends entries as one change, once for each call: a repeated one returns what it wrote before. The transaction may end before
-- it is durable, so that the lock is held for no longer than it takes; `make_durable` has to follow before anything is released.
CREATE FUNCTION dpaudit.append(kinds text[], bodies jsonb[], of_call text)
    RETURNS TABLE (new_number bigint, new_time text, new_body text, new_hash bytea, hash_before bytea, totals jsonb)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_column
DECLARE
    texts text[];
    last record;
    made record;
    followed record;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    IF coalesce(cardinality(kinds), 0) NOT IN (1, 2) OR cardinality(kinds) <> cardinality(bodies) OR of_call !~ '^[0-9a-f]{32}$' THEN
        RAISE EXCEPTION 'a change has one or two entries and a call' USING ERRCODE = 'DP805';
    END IF;
    -- Before the lock is taken, as this is most of the work.
    FOR place IN 1 .. cardinality(kinds) LOOP
        IF pg_column_size(bodies[place]) > 16000000 THEN
            RAISE EXCEPTION 'an entry has at most 16 MB' USING ERRCODE = 'DP816';
        END IF;
        bodies[place] := bodies[place] || jsonb_build_object('by', session_user);
        texts[place] := dpaudit.canonical(bodies[place]);
    END LOOP;
    SELECT h.number, h.hash INTO STRICT last FROM dpaudit.head h FOR UPDATE;
    SELECT c.number, c.role INTO made FROM dpaudit.change c WHERE c.call = of_call;
    IF FOUND THEN
        IF made.number IS NULL OR made.role <> session_user THEN
            RAISE EXCEPTION 'this change was given up' USING ERRCODE = 'DP813';
        END IF;
        RETURN QUERY SELECT * FROM dpaudit.change_made(of_call);
        RETURN;
    END IF;
    IF (SELECT e.kind = 'moved' FROM dpaudit.entry e WHERE e.number = last.number) THEN
        RAISE EXCEPTION 'the ledger was moved' USING ERRCODE = 'DP814';
    END IF;
    INSERT INTO dpaudit.change VALUES (of_call, last.number + 1, cardinality(kinds), session_user);
    FOR place IN 1 .. cardinality(kinds) LOOP
        new_number := last.number + 1;
        new_time := to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
        new_body := texts[place];
        hash_before := last.hash;
        new_hash := sha256(last.hash || convert_to(
            '[' || new_number || ',"' || kinds[place] || '","' || new_time || '",' || new_body || ']', 'UTF8'));
        followed := dpaudit.follow(
            kinds[place], bodies[place], new_number, CASE WHEN place > 1 AND kinds[place - 1] = 'commit' THEN bodies[place - 1] END);
        totals := followed.spent;
        INSERT INTO dpaudit.entry VALUES (
            new_number, kinds[place], new_time, new_body, new_hash, followed.scope[1], followed.scope[2], followed.scope[3]);
        last.number := new_number;
        last.hash := new_hash;
        RETURN NEXT;
    END LOOP;
    UPDATE dpaudit.head h SET number = last.number, hash = last.hash;
END $body$;

-- What a change of this role wrote, with the totals as they are now; nothing where it was not made.
CREATE FUNCTION dpaudit.change_made(of_call text)
    RETURNS TABLE (new_number bigint, new_time text, new_body text, new_hash bytea, hash_before bytea, totals jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    SELECT e.number, e.time, e.body, e.hash, dpaudit.hash_of(e.number - 1), coalesce((
        SELECT jsonb_object_agg(b.number::text, b.spent::jsonb)
        FROM jsonb_object_keys(coalesce(e.body::jsonb -> 'amounts', '{}')) AS names (name)
        JOIN dpaudit.budget b ON b.number::text = name), '{}')
    FROM dpaudit.change c JOIN dpaudit.entry e ON e.number >= c.number AND e.number < c.number + c.entries
    WHERE c.call = of_call AND c.role = session_user ORDER BY e.number
$body$;

-- Forbids a change that was not made, so that a request which is still on its way cannot make it later; true if it was made.
CREATE FUNCTION dpaudit.give_up(of_call text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    PERFORM h.number FROM dpaudit.head h FOR UPDATE;
    INSERT INTO dpaudit.change VALUES (of_call, NULL, 0, session_user) ON CONFLICT DO NOTHING;
    RETURN (SELECT c.entries > 0 FROM dpaudit.change c WHERE c.call = of_call AND c.role = session_user);
END $body$;

-- Commits synchronously after an entry, and so makes it and all before it durable; false if it is not there (any more).
CREATE FUNCTION dpaudit.make_durable(of_number bigint, of_hash bytea) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    IF current_setting('synchronous_commit') <> 'remote_apply' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM pg_logical_emit_message(true, 'dpaudit', '');
    RETURN EXISTS (SELECT FROM dpaudit.entry e WHERE e.number = of_number AND e.hash = of_hash);
END $body$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA dpaudit FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA dpaudit FROM PUBLIC;
