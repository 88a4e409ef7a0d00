/** What is sent again in bulk goes after what is new: by one index each is found in its own order of time. */
export const migration = `
alter table deliveries add column is_bulk boolean not null default false;
drop index deliveries_due;
create index deliveries_due on deliveries (bot_id, is_bulk, due_at) where state = 'waiting';
`;
