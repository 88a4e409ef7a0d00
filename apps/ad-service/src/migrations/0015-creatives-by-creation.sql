-- works-with: 0012-script-sightings
create index concurrently if not exists creatives_by_creation on creatives (created_at, creative_id);
