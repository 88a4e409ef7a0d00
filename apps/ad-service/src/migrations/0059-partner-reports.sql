-- What partners' own reports say of each day, beside what was shown here.
-- works-with: 0054-cards
create table partner_days (
  buyer_id text not null references buyers,
  day date not null,
  time_zone text not null,
  impressions bigint check (impressions >= 0),
  amount_micros bigint not null,
  imported_at timestamptz not null,
  primary key (buyer_id, day)
);
