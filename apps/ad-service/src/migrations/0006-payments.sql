-- References of payments are compared as people read them (referenceKey of reference-key.ts).
alter table money_transactions add column reference_key text;
alter table money_transactions disable trigger money_transactions_stay;
update money_transactions
set reference_key = lower(regexp_replace(normalize(reference, NFKC), '[-[:space:]_]', '', 'g'))
where reference is not null;
alter table money_transactions enable trigger money_transactions_stay;

-- A change of a person overwrites no change that its caller has not read.
alter table people add column updated_at timestamptz not null default now();
