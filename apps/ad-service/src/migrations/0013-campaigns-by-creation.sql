-- works-with: 0012-script-sightings
create index concurrently if not exists campaigns_by_creation on campaigns (created_at, campaign_id);
