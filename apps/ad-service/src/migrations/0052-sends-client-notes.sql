-- works-with: 0047-campaign-reviews
alter table bots add column sends_client_notes boolean not null default false;
