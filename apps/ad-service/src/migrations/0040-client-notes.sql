-- What the publisher's page says of an ad. The request is validated, so no check scans the views here.
-- works-with: 0036-charged-interstitials
alter table views add column client_note text;
