-- Each in-app script that was ever served: a page that names one by its hash keeps it. Some 12 kB for each release.
-- works-with: 0036-charged-interstitials
create table kept_scripts (
  -- The beginning of its SHA-384, in its address.
  hash text primary key check (length(hash) = 22),
  -- As the attribute `integrity` has it.
  integrity text not null check (integrity like 'sha384-%'),
  script bytea not null,
  kept_at timestamptz not null default now()
);
