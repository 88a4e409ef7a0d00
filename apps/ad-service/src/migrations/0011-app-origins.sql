-- Whose pages may show the bot's ads in a frame: origins as browsers send them.
-- works-with: 0010-finance
alter table bots
  add column app_origins text[] not null default '{}';
