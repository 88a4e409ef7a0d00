-- What is filed at an operator of ad data (Russia, 38-FZ, article 18.1).
-- works-with: 0032-interstitials

alter table creatives
  add column kktu text,
  add column ad_description text,
  add constraint creatives_kktu_check check (kktu ~ '^[1-9][0-9]{0,2}[.][1-9][0-9]{0,2}[.][1-9][0-9]{0,2}$') not valid,
  add constraint creatives_ad_description_check check (length(ad_description) between 1 and 500) not valid;

-- At most one row: whose API is used, and the run that files now.
create table ord_account (
  is_only boolean primary key default true check (is_only),
  url text not null check (length(url) <= 2048),
  -- AES-256-GCM under ENCRYPTION_KEY, by 'ord'.
  sealed_key bytea not null,
  owner text not null default 'ord' check (owner = 'ord'),
  run_id text,
  run_until timestamptz
);

create table ord_records (
  -- Of the API: what was filed in a sandbox is not filed elsewhere.
  origin text not null check (length(origin) <= 300),
  external_id text not null check (length(external_id) between 1 and 200),
  -- Of what was filed last; null: nothing was.
  filed_hash bytea check (octet_length(filed_hash) = 32),
  filed_at timestamptz,
  erid text,
  -- What the last attempt was answered; null: it was accepted.
  fault text check (length(fault) between 1 and 500),
  is_refused boolean not null default false,
  primary key (origin, external_id)
);
