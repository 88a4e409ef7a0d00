-- The title of the channel or group that a view of the code lets its user into; null if it earns the bot's usual reward.
-- works-with: 0012-script-sightings
alter table codes
  add column join_title text;
