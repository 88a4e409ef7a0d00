-- An interstitial is charged once it was in view for long enough, and may play on: a view that was charged is not charged again.
-- No older version works on it: it would charge such a view again when it closes.
alter table views
  add column charged_at timestamptz;
