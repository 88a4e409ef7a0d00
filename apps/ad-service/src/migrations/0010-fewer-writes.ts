/** What each view and click wrote, and nobody needs. */
export const migration = `
-- Nothing looks it up, and that a code's view or click is charged once is promised by \`charges_pkey\` and
-- \`events_bot_id_code_event_key\`: a charge has the id of the event that it was made with.
alter table charges drop constraint charges_bot_id_code_format_key;

-- Whether a code earned stands in the events; what is left to mark is a view that was held or refused. \`has_earned\` stays
-- for nodes of the version before, which may be running still, and is not read any more.
alter table current_codes add column is_set_aside boolean not null default false;
update current_codes set is_set_aside = true where has_earned;
`;
