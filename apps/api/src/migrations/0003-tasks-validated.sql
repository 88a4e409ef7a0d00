-- The checks of the migration before, over the rows that stood then.
-- works-with: 0001-schema
alter table ledger_entries
  validate constraint ledger_entries_event_check, validate constraint ledger_entries_check;
alter table balances validate constraint balances_balance_check;
alter table receipts validate constraint receipts_event_check;
