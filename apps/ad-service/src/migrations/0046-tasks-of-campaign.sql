-- works-with: 0044-start-tasks
create index concurrently if not exists tasks_of_campaign on tasks (campaign_id, offered_at desc, code desc);
