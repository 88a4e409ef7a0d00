-- The identifier that an operator of ad data has given a creative (Russia, 38-FZ, article 18.1).
-- works-with: 0029-feeds

alter table creatives add column erid text check (erid ~ '^[A-Za-z0-9_-]{4,64}$');
