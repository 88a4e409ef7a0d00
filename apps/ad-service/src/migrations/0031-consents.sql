-- What publishers say of a user's consent, for buyers of ads: the last statement, for two days.
-- works-with: 0025-alerts
create table viewer_consents (
  bot_id text not null,
  user_id text not null,
  consent jsonb not null check (jsonb_typeof(consent) = 'object'),
  stated_at timestamptz not null,
  primary key (bot_id, user_id)
);
create index viewer_consents_by_age on viewer_consents (stated_at);
alter table buyers add column tcf_vendor_id integer check (tcf_vendor_id between 1 and 65535);
alter table buyer_exchanges add column consent text check (consent in ('consented', 'not-needed', 'none', 'unreadable', 'refused',
  'other-vendor', 'opted-out'));
alter table opening_offers add column consent text;
