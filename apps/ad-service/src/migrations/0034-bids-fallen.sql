-- One more cause of alerts: a buyer that bids half as often.
-- works-with: 0032-interstitials
alter table alert_conditions drop constraint alert_conditions_cause_check;
alter table alert_conditions add constraint alert_conditions_cause_check check (cause in ('money-low', 'budget-spent', 'fill-fallen', 'bids-fallen', 'webhooks-failing', 'videos-waiting',
  'views-held', 'payout-due')) not valid;
alter table alerts drop constraint alerts_cause_check;
alter table alerts add constraint alerts_cause_check check (cause in ('money-low', 'budget-spent', 'fill-fallen', 'bids-fallen', 'webhooks-failing', 'videos-waiting',
  'views-held', 'payout-due', 'new-device')) not valid;
