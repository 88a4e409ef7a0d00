-- What a bot's users see beside its name, and beside the amount of a reward: files below `/media/`.
-- works-with: 0007-held-payments
alter table bots
  add column picture_file_name text,
  add column unit_icon_file_name text;
