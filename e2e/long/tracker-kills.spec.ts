import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import { inline, openSampleAdServer, trackingOf } from "../../apps/ad-service/test/fixtures/sample-ad-server.ts";
import { root, runCommand } from "../../scripts/processes.ts";
import type { MortalNode } from "../kill/mortal-node.ts";
import { type Nodes, startNodes } from "../kill/start-nodes.ts";
import { unlessUnavailable, withRetries } from "../kill/with-retries.ts";
import { initDataOf, ScriptedViewer } from "../scripted-viewer.ts";

/** The lease of a claimed call; afterwards the call is claimed again. */
const LEASE_MS = 60_000;
const called = ["impression", "creativeView", "start"];

/** `most`: how often one URL may be called. Only a crash between a call and its record duplicates a call. */
const deaths = [
  { name: "noted", step: "during:vast.enqueue-calls", most: 1 },
  { name: "claimed", step: "after:vast.claim-calls", most: 1 },
  { name: "sent", step: "at:webhook-sent", most: 2 },
  { name: "answered", step: "before:vast.finish-call", most: 2 },
] as const;
type Death = (typeof deaths)[number];

test("wherever the server is killed, each tracker is called, and twice only after a crash during the call", async () => {
  test.setTimeout(300_000);
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-trackers-"));
  const ads = await openSampleAdServer({});
  const nodes = await startNodes({ dataDirectory, adServices: 1, apis: 1 });
  const node = nodes.all.find(({ role }) => role === "ad-service");
  if (!node) throw new Error("no ad service was started");
  try {
    await sellTag(nodes, `${ads.address}/tag`);
    const countsOf = ({ name }: Death) => called.map((event) => ads.callsOf(`/${name}/${event}`).length);
    for (const [index, death] of deaths.entries()) {
      const { name, step } = death;
      ads.answers["/tag"] = inline({ name, tracking: trackingOf(name) });
      await startViewAndCrash(nodes, node, { userId: String(9000 + index), step });
      // These calls were not claimed before the crash: if still due, they would trigger the crash meant for the next view.
      if (name === "noted") await expect.poll(() => Math.min(...countsOf(death)), { timeout: 30_000 }).toBe(1);
    }
    await wait(LEASE_MS + 5000);
    for (const death of deaths) {
      const { name, most } = death;
      const counts = countsOf(death);
      expect(Math.min(...counts), `${name}: ${counts}`).toBeGreaterThanOrEqual(1);
      expect(Math.max(...counts), `${name}: ${counts}`).toBeLessThanOrEqual(most);
    }
  } finally {
    await nodes.stop();
    ads.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

async function startViewAndCrash(
  nodes: Nodes,
  node: MortalNode,
  { userId, step }: { userId: string; step: string },
): Promise<void> {
  const viewer = new ScriptedViewer(nodes.adServiceUrl);
  const { body } = await viewer.open(nodes.secrets.botId, initDataOf(userId, nodes.secrets));
  if (body.outcome !== "session") throw new Error(body.outcome);
  node.arm(step, 1);
  const start = { token: body.token, reports: [], started: true };
  const starting = withRetries("starting", () => unlessUnavailable(viewer.report(body.session_id, start)));
  await expect.poll(() => node.isUp, { message: step }).toBe(false);
  await node.start();
  await starting;
}

async function sellTag({ adServiceUrl, secrets }: Nodes, url: string): Promise<void> {
  const env = { ADS_URL: adServiceUrl, OPERATOR_TOKEN: secrets.operatorToken };
  const command = (words: string[]) =>
    runCommand(process.execPath, [join(root, "apps/ad-service/src/cli.ts"), ...words, "--json"], { env });
  const { creativeId } = JSON.parse(await command(["creatives", "add-tag", url]));
  const fields = ["--name", "Tag", "--advertiser", "Network", "--priority", "sponsorship", "--format", "rewarded"];
  await command(["campaigns", "add", ...fields, "--creative", creativeId]);
}
