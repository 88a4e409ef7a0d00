-- What Telegram signed when the app of a priced view was launched: the log of billed events has a salted hash of it, so that
-- a sample can be opened to an advertiser. Who erases a user deletes it, and with the salt the way back from the hash.
-- works-with: 0016-joins
create table view_launches (
  bot_id text not null,
  view_id text not null,
  -- A code may be opened with several ads in turn, until one of them earns.
  code text collate "C" not null,
  user_id text not null,
  opened_at timestamptz not null,
  init_data text not null check (octet_length(init_data) <= 8192),
  -- 122 random bits.
  salt bytea not null default uuid_send(gen_random_uuid()),
  primary key (code, bot_id, opened_at, view_id)
) partition by range (opened_at);
