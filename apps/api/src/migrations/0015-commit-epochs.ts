/** Entries are ordered by ids that go on when the data are restored into another cluster, whose own ids begin anew. */
export const migration = `
alter table ledger_entries alter column xid set default commit_xid();
`;
