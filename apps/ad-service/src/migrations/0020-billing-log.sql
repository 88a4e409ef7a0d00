-- The log of billed events: a Merkle tree whose signed heads its operator cannot take back (billing-log/).
-- works-with: 0016-joins

-- A store that was restored from before its last signed head begins another log, since the old one must not fork.
create table billing_logs (
  log_id integer primary key check (log_id > 0),
  -- The first line of its checkpoints, and the name of its key (C2SP tlog-checkpoint).
  origin text not null unique check (length(origin) between 1 and 300 and origin !~ '[\s+]'),
  -- `name+hash+key`, as verifiers get it (C2SP signed-note).
  verifier_key text not null,
  -- Ed25519, PKCS #8, sealed with ENCRYPTION_KEY.
  private_key bytea not null,
  -- The position up to which billed rows have entries, in commit order.
  xid xid8 not null default '0',
  size bigint not null default 0 check (size >= 0),
  -- Of the newest checkpoint, whose tiles are all there.
  published_size bigint not null default 0 check (published_size between 0 and size),
  checkpoint text,
  published_at timestamptz,
  created_at timestamptz not null default now()
);

-- The leaves of the tree. Append-only.
create table billing_log_entries (
  log_id integer not null,
  log_index bigint not null check (log_index >= 0),
  event_id text collate "C" not null,
  kind text not null check (kind in ('view', 'click', 'task', 'refund')),
  campaign_id text not null,
  -- Of the row that was billed.
  xid xid8 not null,
  -- The bytes that the leaf is the hash of.
  entry text not null,
  primary key (log_id, log_index),
  unique (event_id, kind, log_id)
);
create index billing_log_entries_of_campaign on billing_log_entries (campaign_id, log_id, xid);
create trigger billing_log_entries_stay before update or delete or truncate on billing_log_entries
  execute function refuse_change();

-- The hashes of the tree, 256 of a level in each row (C2SP tlog-tiles); the last one of a level grows.
create table billing_log_tiles (
  log_id integer not null,
  level smallint not null check (level between 0 and 63),
  tile_index bigint not null,
  hashes bytea not null check (octet_length(hashes) between 32 and 8192 and octet_length(hashes) % 32 = 0),
  primary key (log_id, level, tile_index)
);
-- Hashes do not get shorter by compression.
alter table billing_log_tiles alter column hashes set storage external;
