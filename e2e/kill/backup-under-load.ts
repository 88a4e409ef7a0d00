/**
 * Makes a backup with `ads backup` while people earn and spend, restores it with `ads restore` to another folder, and starts
 * both servers there. All that was confirmed before the end of the backup must be in both parties' records, once; the feed
 * goes on at a cursor of the first servers; and people earn again.
 *
 *   node e2e/kill/backup-under-load.ts [--people 200]
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { root, runCommand } from "../../scripts/processes.ts";
import { compareRecords } from "./compare-records.ts";
import { earnEvents, type Promises } from "./earn-events.ts";
import { type ListedEvent, listEvents, readRecords } from "./read-records.ts";
import { type Nodes, startNodes } from "./start-nodes.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({ options: { people: { type: "string", default: "200" } } });
const people = Number(values.people);

async function ads(words: readonly string[], dataDirectory: string): Promise<unknown> {
  const env = { DATA_DIR: dataDirectory };
  return JSON.parse(await runCommand(process.execPath, [join(root, "apps/ad-service/src/cli.ts"), ...words], { env }));
}

/** How many people had their confirmation at a moment. */
function countConfirmed({ earned }: Promises) {
  const counts: { at: number; count: number }[] = [];
  const counting = setInterval(() => counts.push({ at: Date.now(), count: earned.length }), 10);
  return {
    before: (moment: Date) => counts.findLast(({ at }) => at < moment.getTime())?.count ?? 0,
    stop: () => clearInterval(counting),
  };
}

async function beginAll(earning: ReturnType<typeof earnEvents>, count: number): Promise<void> {
  for (let person = 0; person < count; person++) {
    earning.begin();
    await wait(20);
  }
}

async function makeBackup(dataDirectory: string, backup: string) {
  const nodes = await startNodes({ dataDirectory, adServices: 1, apis: 1 });
  try {
    const earning = earnEvents(nodes);
    const confirmed = countConfirmed(earning.promises);
    const beginning = beginAll(earning, people);
    await wait(1500);
    const words = ["--json", "backup", backup, "--keep", "2"];
    const { folder, completeUntil } = (await ads(words, dataDirectory)) as { folder: string; completeUntil: string };
    await beginning;
    await earning.finish();
    confirmed.stop();
    const { earned } = earning.promises;
    const { events, next } = await listEvents(nodes);
    const seen = new Set(events.map(({ event_id: id }) => id));
    return { folder, earned, before: earned.slice(0, confirmed.before(new Date(completeUntil))), seen, next };
  } finally {
    await nodes.stop();
  }
}

/** Waits until the records agree, up to a limit, and returns the remaining faults. */
async function settle(
  nodes: Nodes,
  promisesOf: (events: readonly ListedEvent[]) => Promises,
): Promise<readonly string[]> {
  const giveUpAt = Date.now() + 120_000;
  for (;;) {
    const records = await readRecords(nodes);
    const { faults } = compareRecords(promisesOf(records.events), records, []);
    if (faults.length === 0 || Date.now() > giveUpAt) return faults;
    await wait(1000);
  }
}

await withStore("embedded", async ({ dataDirectory }) => {
  const [first, second] = [join(dataDirectory, "first"), join(dataDirectory, "second")];
  for (const folder of [first, second]) mkdirSync(folder, { mode: 0o700 });
  const backups = join(dataDirectory, "backups");
  const { folder: backup, earned, before, seen, next } = await makeBackup(first, backups);
  await ads(["--json", "backup", backups, "--check", "--max-age-hours", "1"], first);
  console.log(`${earned.length} were confirmed, ${before.length} of them before the end of the backup`);
  if (before.length === 0 || before.length === earned.length) throw new Error("the backup was not made under load");

  // As after the loss of a machine: the settings are kept elsewhere.
  copyFileSync(join(first, "demo-secrets.json"), join(second, "demo-secrets.json"));
  await ads(["--json", "restore", backup], second);
  const nodes = await startNodes({ dataDirectory: second, adServices: 1, apis: 1 });
  try {
    const earning = earnEvents(nodes);
    await beginAll(earning, 20);
    await earning.finish();
    const again = earning.promises.earned;
    const faults = await settle(nodes, (events) => {
      // What was confirmed after the end may be in the backup, or not.
      const codes = new Set(events.map(({ code }) => code));
      return { earned: [...before, ...earned.filter(({ code }) => codes.has(code)), ...again], spent: [] };
    });
    const { events: rest } = await listEvents(nodes, next);
    // Views that were open when the backup was made end after the restore, and are paid then.
    const repeated = rest
      .filter(({ event_id: id }) => seen.has(id))
      .map(({ event_id: id }) => `the feed repeats ${id}`);
    const listed = new Set(rest.map(({ code }) => code));
    const missing = again
      .filter(({ code }) => !listed.has(code))
      .map(({ code }) => `the feed lacks the event of ${code}`);
    const all = [...faults, ...repeated, ...missing];
    for (const fault of all.slice(0, 20)) console.error(`  ${fault}`);
    console.log(`restored: ${before.length} kept, ${again.length} earned afterwards, ${all.length} faults`);
    return all.length === 0;
  } finally {
    await nodes.stop();
  }
});
