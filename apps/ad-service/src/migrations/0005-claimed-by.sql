-- works-with: 0004-clicks
-- The process that claimed a delivery (packages/postgres/src/store-session.ts): the claims of one that is gone are taken back
-- before their leases end.
alter table deliveries add column claimed_by integer;
alter table deliveries alter column claimed_by set default nullif(current_setting('intermission.session', true), '')::integer;
