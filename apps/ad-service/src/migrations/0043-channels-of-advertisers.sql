-- Whose channel it is; null: the operator's.
-- works-with: 0036-charged-interstitials
alter table task_channels add column advertiser_id text;
