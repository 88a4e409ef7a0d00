-- Feeds of networks beside OpenRTB, and the outcome of a buyer that requires what may not be sent.
-- works-with: 0025-alerts
alter table buyers add column protocol text not null default 'openrtb' check (protocol in ('openrtb', 'richads'));
alter table buyers drop constraint buyers_sends_check;
alter table buyers add constraint buyers_sends_check check (sends <@ array['user-id', 'address', 'telegram-id']) not valid;
alter table buyer_exchanges drop constraint buyer_exchanges_outcome_check;
alter table buyer_exchanges add constraint buyer_exchanges_outcome_check check (outcome in ('won', 'lost', 'not-offered', 'accepted',
  'no-bid', 'timeout', 'unreachable', 'status', 'malformed', 'too-large', 'other-request', 'other-impression', 'other-currency',
  'no-price', 'implausible-price', 'below-floor', 'other-format', 'other-duration', 'no-markup', 'broken-markup',
  'blocked-attribute', 'blocked-domain', 'blocked-category', 'no-category', 'resting', 'busy', 'no-time', 'not-permitted')) not valid;
