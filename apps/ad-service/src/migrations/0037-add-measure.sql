-- A measure of the statistics is one line of its migration: select add_measure('its_column');
-- works-with: 0032-interstitials
create function add_measure(measure text) returns void language plpgsql as $$
declare
  sums text;
begin
  foreach sums in array array['stats_sums', 'stats_bot_sums', 'stats_campaign_sums', 'stats_audiences',
    'stats_bot_audiences', 'stats_campaign_audiences'] loop
    execute format('alter table %I add column %I integer not null default 0', sums, measure);
  end loop;
end $$;
