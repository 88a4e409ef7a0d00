import type { AuditEntry } from "@intermission/operator-api/audit";
import type { ObjectKind } from "@intermission/operator-api/object-kinds";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";

interface AuditQuery {
  actor?: string | undefined;
  operation?: string | undefined;
  objectKind?: string | undefined;
  objectId?: string | undefined;
  text?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  before?: string | undefined;
  limit: number;
}

const select = `select entry_id::text as "entryId", at, actor, actor_name as "actorName", operation, object_kind as "objectKind",
     object_id as "objectId", object_name as "objectName", before, after, address, request_id as "requestId"
   from audit_entries`;
const find = statement<AuditEntry>(
  "audit.find",
  `${select} where entry_id = $1::bigint and object_kind = $2 and object_id = $3`,
);

/** One entry about this object; undefined: there is none. */
export async function findAuditEntry(
  database: Pick<Database, "run">,
  { entryId, objectKind, objectId }: { entryId: string; objectKind: ObjectKind; objectId: string },
): Promise<AuditEntry | undefined> {
  return (await database.run(find, [entryId, objectKind, objectId]))[0];
}

// Unnamed, since an owner runs it rarely, and its best index depends on the filter.
const list: Statement<AuditEntry> = {
  name: "",
  text: `${select}
   where ($1::text is null or $1 in (actor, actor_name)) and ($2::text is null or operation = $2)
     and ($3::text is null or object_kind = $3) and ($4::text is null or object_id = $4)
     and ($5::text is null or strpos(lower(concat_ws(' ', object_name, before::text, after::text)), lower($5)) > 0)
     and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
     and ($8::bigint is null or entry_id < $8)
   order by entry_id desc limit $9`,
};

/** The latest first. */
export async function listAuditEntries(database: Database, query: AuditQuery): Promise<ListPage<AuditEntry>> {
  const { actor, operation, objectKind, objectId, text, from, to, before, limit } = query;
  const values = [actor, operation, objectKind, objectId, text, from, to, before, limit + 1];
  return listPage(await database.run(list, values), limit, ({ entryId }) => entryId);
}
