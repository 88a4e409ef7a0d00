/** Rows are ordered by ids that go on when the data are restored into another cluster, whose own ids begin anew. */
export const migration = `
alter table events alter column xid set default commit_xid();
alter table ad_requests alter column xid set default commit_xid();
alter table ad_milestones alter column xid set default commit_xid();
alter table refunds alter column xid set default commit_xid();
alter table charges alter column xid set default commit_xid();
alter table ad_clicks alter column xid set default commit_xid();
alter table conversions alter column xid set default commit_xid();
`;
