-- After 0048, which ends the transaction that added these checks: their tables serve while they are scanned.
-- works-with: 0047-campaign-reviews
alter table buyers
  validate constraint buyers_allowed_regulated_check,
  validate constraint buyers_first_seen_limit_check,
  validate constraint buyers_report_limit_check;
alter table buyer_exchanges validate constraint buyer_exchanges_outcome_check;
alter table creatives validate constraint creatives_kktu_check, validate constraint creatives_ad_description_check;
alter table tasks validate constraint tasks_target_check, validate constraint tasks_proof_check;
alter table task_bots validate constraint task_bots_updates_by_check;
alter table campaigns
  validate constraint campaigns_review_check,
  validate constraint campaigns_review_reason_check,
  validate constraint campaigns_refused_check,
  validate constraint campaigns_approved_check,
  validate constraint campaigns_paused_by_check;
alter table alert_conditions validate constraint alert_conditions_cause_check;
alter table alerts validate constraint alerts_cause_check;
