-- works-with: 0047-campaign-reviews
-- Changes of people's own e-mail addresses, by the SHA-256 of two tokens: that of the link to the new address, which makes the
-- change, and that of the link to the old one, which refuses it or takes it back.
create table person_email_changes (
  token_hash bytea primary key,
  undo_hash bytea not null unique,
  person_id text not null references people,
  old_email text not null,
  new_email text not null check (new_email = lower(new_email) and length(new_email) between 3 and 254),
  -- SHA-256 of the token of the session that asked: it stays when the change is made.
  session_hash bytea not null,
  state text not null default 'requested' check (state in ('requested', 'made', 'undone', 'void')),
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  undo_expires_at timestamptz not null
);
create unique index person_email_changes_requested on person_email_changes (person_id) where state = 'requested';
create index person_email_changes_of_person on person_email_changes (person_id, requested_at);
