/**
 * The ledger stays append-only, but for the erasure of a person: a transaction that says so may replace what names the
 * person in an entry, and nothing that a sum, an order or a cursor is made of.
 */
export const migration = `
create or replace function forbid_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and current_setting('intermission.erasing', true) = 'on'
    and to_jsonb(new) - array['user_id', 'reference', 'idempotency_key']
      = to_jsonb(old) - array['user_id', 'reference', 'idempotency_key']
  then
    return new;
  end if;
  raise exception 'the ledger is append-only';
end $$;
`;
