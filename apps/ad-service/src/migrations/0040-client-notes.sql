-- What the publisher's page says of an ad, for bots that ask for it.
-- works-with: 0036-charged-interstitials
alter table bots add column sends_client_notes boolean not null default false;
alter table views add column client_note text check (length(client_note) <= 128);
alter table events add column client_note text check (length(client_note) <= 128);
