-- Sums of tasks that were paid.
-- works-with: 0016-joins
alter table events validate constraint events_event_check;
alter table refunds validate constraint refunds_event_check;
alter table stats_sums add column tasks integer not null default 0;
alter table stats_audiences add column tasks integer not null default 0;
alter table stats_bot_sums add column tasks integer not null default 0;
alter table stats_campaign_sums add column tasks integer not null default 0;
alter table stats_bot_audiences add column tasks integer not null default 0;
alter table stats_campaign_audiences add column tasks integer not null default 0;
