-- Two more outcomes of bids. Whoever writes the older ones alone works on.
-- works-with: 0025-alerts
alter table buyer_exchanges drop constraint buyer_exchanges_outcome_check;
alter table buyer_exchanges add constraint buyer_exchanges_outcome_check check (outcome in ('won', 'lost', 'not-offered', 'accepted',
  'no-bid', 'timeout', 'unreachable', 'status', 'malformed', 'too-large', 'other-request', 'other-impression', 'other-currency',
  'no-price', 'implausible-price', 'below-floor', 'other-format', 'other-duration', 'no-markup', 'broken-markup',
  'blocked-attribute', 'blocked-domain', 'blocked-category', 'no-category', 'resting', 'busy', 'no-time')) not valid;
