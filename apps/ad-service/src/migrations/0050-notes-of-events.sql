-- works-with: 0047-campaign-reviews
alter table events add column client_note text;
