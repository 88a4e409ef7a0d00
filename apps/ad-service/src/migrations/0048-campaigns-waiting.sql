-- What waits is counted every few minutes.
-- works-with: 0047-campaign-reviews
create index concurrently if not exists campaigns_waiting on campaigns (campaign_id) where review = 'waiting';
