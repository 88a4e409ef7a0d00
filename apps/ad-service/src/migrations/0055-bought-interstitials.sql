-- Buyers are asked for interstitials as well as for rewarded views.
-- works-with: 0054-cards
update campaigns set formats = '{rewarded,interstitial}', updated_at = now()
where formats = '{rewarded}' and campaign_id in (select campaign_id from buyers);
