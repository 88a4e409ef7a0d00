import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type OpenedDatabase, openDatabase } from "@intermission/postgres/open-database";
import { startDumpableCluster } from "@intermission/testing/copy-database";
import { findDebianPrograms } from "@intermission/testing/temporary-cluster";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { missingForOwnMachine, onOwnMachine } from "../../../scripts/own-machine.ts";
import { migrations } from "../src/migrations.ts";
import { makeUpcomingPartitions } from "../src/retention/keep-partitions.ts";
import { openDeliveryFixture } from "./fixtures/delivery-fixture.ts";
import { readFeed } from "./fixtures/read-feed.ts";

/** The recipes of docs/operate.md, run as they stand there. */

const page = readFileSync(join(import.meta.dirname, "../../../docs/operate.md"), "utf8");

/** The blocks of a language in a section, without the indentation of their list. */
function blocksOf(title: string, language: string): string[] {
  const section = page.slice(page.indexOf(`\n${title}\n`) + 1).split(/\n##+ /)[0] ?? "";
  const blocks = section.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, "gms"));
  return [...blocks].map(([, indent = "", block = ""]) => block.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "documented-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(databaseUrl: string): Promise<OpenedDatabase> {
  return openDatabase({ databaseUrl, dataDirectory: temporaryFolder(), schema: "ad_service", migrations });
}

const programs = findDebianPrograms();
if (programs === undefined)
  console.log("!!! The recipes of backups were not followed: PostgreSQL of Debian is missing");

test.skipIf(programs === undefined)(
  "the documented dump is restored to the letter, and the feed goes on after it",
  {
    tags: "long",
    timeout: 180_000,
  },
  async () => {
    const cluster = await startDumpableCluster();
    onTestFinished(cluster.stop);
    const [source, target] = [await createServerDatabase(cluster.url), await createServerDatabase(cluster.url)];
    const before = await open(source.url);
    await makeUpcomingPartitions(before, new Date());
    const { token, enqueue } = await openDeliveryFixture(before, {});
    const [first = ""] = await enqueue(1);
    const { next } = await readFeed(before, token, { count: 1 });
    const [unread = ""] = await enqueue(1);
    const [dump = "", restore = ""] = blocksOf("## Back up and restore", "sh");
    const env = { PATH: `${programs}:${process.env.PATH}`, DATABASE_URL: source.url, NEW_DATABASE_URL: target.url };
    const cwd = temporaryFolder();
    for (const command of [dump, restore])
      execFileSync("sh", ["-ec", command], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
    await before.close();
    const after = await open(target.url);
    onTestFinished(() => after.close());
    expect((await readFeed(after, token, { after: next, count: 1 })).ids).toEqual([unread]);
    expect((await readFeed(after, token, { count: 2 })).ids).toEqual([first, unread]);
  },
);

/** What a machine with systemd and sudo has; Debian's own commands do the work. */
const ofMachine = {
  systemctl: `#!/bin/sh
[ "$1" = stop ] && { pg_ctlcluster 15 main stop || true; exit 0; }
exec pg_ctlcluster 15 main "$1"
`,
  sudo: `#!/bin/sh
[ "$1" = -u ] || exec "$@"
user=$2
shift 2
exec runuser -u "$user" -- "$@"
`,
};

const missing = ["/usr/bin/pgbackrest", "/usr/bin/pg_ctlcluster", "/etc/postgresql/15/main"].find(
  (path) => !existsSync(path),
);
const reason =
  missingForOwnMachine() ?? (missing && `there is no ${missing}: apt-get install pgbackrest postgresql-15`);
if (reason !== undefined) console.log(`!!! The recipe of pgBackRest was not followed: ${reason}`);

test.skipIf(reason !== undefined)(
  "pgBackRest restores by its documented commands what was written after the backup, too",
  {
    tags: "long",
    timeout: 240_000,
  },
  () => {
    const folder = temporaryFolder();
    const [config = ""] = blocksOf("### pgBackRest", "text");
    const files = Object.fromEntries(
      Object.entries({
        "/etc/pgbackrest.conf": config,
        "/usr/bin/systemctl": ofMachine.systemctl,
        "/usr/bin/sudo": ofMachine.sudo,
      }).map(([place, text]) => {
        const file = join(folder, basename(place));
        writeFileSync(file, text, { mode: 0o755 });
        return [place, file];
      }),
    );
    const script = join(import.meta.dirname, "fixtures/follow-pgbackrest.ts");
    const { status, stdout, stderr } = onOwnMachine(
      files,
      `mkdir -p /run/postgresql
       mount -t tmpfs -o mode=2775,uid=$(id -u postgres),gid=$(id -g postgres) tmpfs /run/postgresql
       exec ${process.execPath} ${script} '${JSON.stringify(blocksOf("### pgBackRest", "sh")).replaceAll("'", "'\\''")}'`,
      200_000,
    );
    expect(status, `${stdout}${stderr}`).toBe(0);
    const { written, goesOn, whole } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    expect({ goesOn, whole }).toEqual({ goesOn: written.slice(1), whole: written });
  },
);
