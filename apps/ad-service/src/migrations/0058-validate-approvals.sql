-- After 0057, which ends the transaction that added these checks: their tables serve while they are scanned.
-- works-with: 0057-approvals
alter table deployment validate constraint deployment_approval_above_micros_check;
alter table alert_conditions validate constraint alert_conditions_cause_check;
alter table alerts validate constraint alerts_cause_check;
