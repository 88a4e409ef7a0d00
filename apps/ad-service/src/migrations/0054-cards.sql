-- Cards: ads of networks that a bot sends as messages.
-- No older version works on it: it would settle the impression of a card without the publisher's share.
alter table buyers drop constraint buyers_protocol_check;
alter table buyers add constraint buyers_protocol_check check (protocol in ('openrtb', 'richads', 'richads-cards')) not valid;

-- Of an impression that pays the publisher at once, as that of a card; a view pays at its end.
alter table bought_impressions add column revenue_micros bigint not null default 0;

-- A card that was offered to a bot for one user. Owed once the bot says that it was sent, or its button was followed.
create table cards (
  card_id text not null check (card_id ~ '^[0-9a-f]{32}$'),
  bot_id text not null,
  user_id text not null,
  buyer_id text not null references buyers,
  campaign_id text not null,
  is_test boolean not null,
  price_micros bigint not null check (price_micros >= 0),
  link text not null,
  -- Called once the card is owed.
  notice text,
  offered_at timestamptz not null,
  -- Until then it may be owed.
  expires_at timestamptz not null,
  shown_at timestamptz,
  clicked_at timestamptz,
  primary key (card_id, bot_id)
);
create index cards_of_user on cards (bot_id, user_id, offered_at);
-- What is on offer counts against the limits of its buyer.
create index cards_on_offer on cards (campaign_id, expires_at) where shown_at is null and not is_test;
create index cards_by_age on cards (offered_at);
