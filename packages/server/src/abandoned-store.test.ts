import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { abandonedStoreFault, markAbandonedStore, requireStoreInUse } from "./abandoned-store.ts";

const now = new Date("2026-03-01T12:00:00Z");
const url = "postgres://me:hush-hush@db.example:5432/ads";

function place({ holdsStore }: { holdsStore: boolean }) {
  const dataDirectory = mkdtempSync(join(tmpdir(), "abandoned-store-"));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true }));
  if (holdsStore) {
    mkdirSync(join(dataDirectory, "postgres"));
    writeFileSync(join(dataDirectory, "postgres/PG_VERSION"), "18\n");
  }
  const lines: string[] = [];
  const log = { warn: (_facts: unknown, message?: string) => void lines.push(message ?? "") };
  const at = (databaseUrl: string | undefined) => ({
    databaseUrl,
    dataDirectory,
    dataFolder: join(dataDirectory, "ads"),
  });
  return { at, lines, log, mark: join(dataDirectory, "ads/uses-database-server.json") };
}

test("a store that DATABASE_URL replaces is said and marked, without the password, and refused until the mark is removed", () => {
  const { at, lines, log, mark } = place({ holdsStore: true });
  requireStoreInUse(at(url), log);
  expect(lines).toEqual([expect.stringContaining("DATABASE_URL is set, so the store in ")]);
  markAbandonedStore(at(url), now, log);
  expect(readFileSync(mark, "utf8")).not.toContain("hush-hush");
  const message =
    /is not in use: since 2026-03-01T12:00:00\.000Z the server uses the database db\.example:5432\/ads\. .* remove /;
  expect(() => requireStoreInUse(at(undefined), log)).toThrow(message);
  expect(abandonedStoreFault(at(url))).toBeUndefined();
  // Another start does not change since when.
  markAbandonedStore(at(url), new Date(), log);
  expect(abandonedStoreFault(at(undefined))).toMatch(message);
  writeFileSync(mark, "not JSON");
  expect(abandonedStoreFault(at(undefined))).toContain("is not in use");
  rmSync(mark);
  expect(() => requireStoreInUse(at(undefined), log)).not.toThrow();
});

test("a folder without a store causes neither a line nor a mark, and a start without DATABASE_URL makes its store", () => {
  const { at, lines, log, mark } = place({ holdsStore: false });
  requireStoreInUse(at(url), log);
  markAbandonedStore(at(url), now, log);
  requireStoreInUse(at(undefined), log);
  expect({ lines, isMarked: existsSync(mark) }).toEqual({ lines: [], isMarked: false });
});
