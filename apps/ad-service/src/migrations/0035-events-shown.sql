-- works-with: 0032-interstitials
create index concurrently if not exists events_shown on events (bot_id, xid) where event <> 'interstitial';
