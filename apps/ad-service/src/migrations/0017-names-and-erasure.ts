/**
 * Advertisers are one in any case and with any blanks: "My Company" and "my company" are not two parties that each pay.
 * Names that were two so far become the one that was there first; the postback keys of the others are void.
 *
 * Events of a person who was erased stay for the sums. They are not sent, replayed or listed any more.
 */
export const migration = `
alter table advertisers add column name_key text;
update advertisers set name_key = lower(regexp_replace(trim(name), '\\s+', ' ', 'g'));
create temporary table merged_advertisers on commit drop as
  select name, first_value(name) over (partition by name_key order by created_at, name) as kept from advertisers;
update campaigns set advertiser = kept from merged_advertisers where advertiser = merged_advertisers.name;
update bots set blocked_advertisers = (
  select array_agg(distinct coalesce(kept, blocked))
  from unnest(blocked_advertisers) as blocked left join merged_advertisers on merged_advertisers.name = blocked
) where blocked_advertisers <> '{}';
delete from advertisers using merged_advertisers where advertisers.name = merged_advertisers.name and merged_advertisers.name <> kept;
alter table advertisers alter column name_key set not null, add unique (name_key);

alter table events add column is_erased boolean not null default false;
alter table deliveries drop constraint deliveries_end_reason_check;
alter table deliveries add constraint deliveries_end_reason_check
  check (end_reason in ('attempts-used-up', 'at-most-once', 'held-too-long', 'test', 'erased')) not valid;
`;
