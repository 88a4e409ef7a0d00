-- works-with: 0047-campaign-reviews
create index concurrently if not exists tasks_of_bot on tasks (bot_id, offered_at desc, code desc);
