-- works-with: 0034-bids-fallen
create index concurrently if not exists events_shown on events (bot_id, xid) where event <> 'interstitial';
