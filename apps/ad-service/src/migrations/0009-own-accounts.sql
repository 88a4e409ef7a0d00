-- What people see of their own sessions, and codes for a lost authenticator app.
-- works-with: 0008-bot-pictures
alter table person_sessions
  add column session_id text not null unique default 'ses_' || replace(gen_random_uuid()::text, '-', ''),
  -- As it named itself: `Firefox, Windows`.
  add column browser text not null default '' check (length(browser) <= 64);

-- By the SHA-256 of a code of 80 random bits. A code that signs in is deleted.
create table person_recovery_codes (
  person_id text not null references people,
  code_hash bytea not null,
  primary key (person_id, code_hash)
);
