-- Sums of interstitials that were charged.
-- works-with: 0032-interstitials
alter table views validate constraint views_format_check;
alter table events validate constraint events_event_check;
alter table refunds validate constraint refunds_event_check;
alter table billing_log_entries validate constraint billing_log_entries_kind_check;
alter table stats_sums add column interstitials integer not null default 0;
alter table stats_audiences add column interstitials integer not null default 0;
alter table stats_bot_sums add column interstitials integer not null default 0;
alter table stats_campaign_sums add column interstitials integer not null default 0;
alter table stats_bot_audiences add column interstitials integer not null default 0;
alter table stats_campaign_audiences add column interstitials integer not null default 0;
