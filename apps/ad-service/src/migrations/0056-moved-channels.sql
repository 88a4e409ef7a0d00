-- works-with: 0054-cards
-- Of a group that has become a supergroup: reports from before may still name this id.
alter table task_channels add column earlier_chat_id text;
