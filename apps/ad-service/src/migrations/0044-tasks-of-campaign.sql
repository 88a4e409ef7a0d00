-- works-with: 0036-charged-interstitials
create index concurrently if not exists tasks_of_campaign on tasks (campaign_id, offered_at desc, code desc);
