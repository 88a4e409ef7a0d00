-- Records that a buyer asks to be published in /ads.txt.
-- works-with: 0026-bid-outcomes
alter table buyers add column ads_txt text[] not null default '{}';
