/** Lighter files of a creative's video. */
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
`;
