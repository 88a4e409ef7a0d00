/**
 * Loaded into a server before its own modules, it makes the server a later version: two more migrations, which add a column to
 * every table and make an index while others write.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

const more = (newest: string, table: string, column: string) => ({
  "9001-next": `-- works-with: ${newest}
    do $$ declare one text; begin
      for one in select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
        and not relispartition and relname not in ('migrations', 'commit_epochs') loop
        execute format('alter table %I add column of_next_version text', one);
      end loop;
    end $$;`,
  "9002-index": `-- works-with: ${newest}
    create index concurrently if not exists of_next_version on ${table} (${column})`,
});

registerHooks({
  load(url, context, nextLoad) {
    const [, app] = /\/apps\/(ad-service|api)\/src\/migrations\.ts$/.exec(url) ?? [];
    if (app === undefined) return nextLoad(url, context);
    const added = app === "api" ? ["ledger_entries", "recorded_at"] : ["events", "occurred_at"];
    const source = readFileSync(fileURLToPath(url), "utf8").replace("export const migrations =", "const released =");
    return {
      format: "module-typescript",
      shortCircuit: true,
      source: `${source}
        const more = ${more.toString()};
        const newest = Object.keys(released).sort().at(-1);
        export const migrations = { ...released, ...more(newest, ...${JSON.stringify(added)}) };`,
    };
  },
});
