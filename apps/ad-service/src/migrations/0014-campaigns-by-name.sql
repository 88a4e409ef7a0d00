-- works-with: 0012-script-sightings
create index concurrently if not exists campaigns_by_name on campaigns (lower(name) collate "C", campaign_id);
