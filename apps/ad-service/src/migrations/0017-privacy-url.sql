-- Where the publisher says what becomes of users' data. The settings page of the mini-app leads there.
-- works-with: 0016-joins
alter table bots
  add column privacy_url text;
