-- When the in-app script of a page last reached the service, and how it fared there.
-- works-with: 0011-app-origins
create table script_sightings (
  bot_id text not null references bots,
  -- As its browser sends it, registered for the bot or not.
  origin text not null check (length(origin) <= 300),
  seen_at timestamptz not null,
  version text check (length(version) <= 16),
  state text not null check (state in ('working', 'not-registered', 'launch-data-missing', 'launch-data-refused',
    'launch-data-expired', 'frame-blocked', 'frame-not-loaded')),
  primary key (bot_id, origin)
);
