/** Lighter files of a creative's video, and its captions. */
export const migration = `
create table creative_renditions (
  creative_id text not null references creatives,
  file_name text not null,
  media_type text not null,
  byte_length integer not null,
  width integer not null,
  height integer not null,
  primary key (creative_id, file_name)
);

create table creative_captions (
  creative_id text not null references creatives,
  -- BCP 47, in its canonical form.
  language text not null check (length(language) between 2 and 35),
  file_name text not null,
  primary key (creative_id, language)
);
`;
