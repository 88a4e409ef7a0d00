import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { startTemporaryCluster } from "../../packages/testing/src/temporary-cluster.ts";
import { startDemoStack } from "../../scripts/demo-stack.ts";
import { freePort, root } from "../../scripts/processes.ts";
import { companionApi } from "../kill/companion-api.ts";
import { addressOf, visitHeaders } from "../kill/earn-events.ts";
import { initDataOf, playedRanges, ScriptedViewer } from "../scripted-viewer.ts";
import { expect, newDataDirectory, test } from "../stack.ts";

const isPrometheusHere = spawnSync("prometheus", ["--version"]).status === 0;
if (!isPrometheusHere)
  console.log("!!! The alerts were not evaluated: prometheus is missing. Enable it: apt-get install prometheus");

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
}

/** What a panel's variables stand for here. The rate's range holds several of our scrapes. */
const dashboardVariables: Readonly<Record<string, string>> = { $__rate_interval: "30s", $node: ".+" };

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const panels: readonly Panel[] = JSON.parse(
  readFileSync(join(root, "deploy/grafana/intermission.json"), "utf8"),
).panels;
const expressionsOfPanels = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    title,
    expression: Object.entries(dashboardVariables).reduce((text, [name, value]) => text.replaceAll(name, value), expr),
  })),
);

const alertsFile = join(root, "deploy/prometheus/alerts.yaml");
const rules: readonly Rule[] = parse(readFileSync(alertsFile, "utf8")).groups.flatMap(
  ({ rules: ofGroup }: { rules: Rule[] }) => ofGroup,
);

test("each figure of the alerts and each panel of the dashboard has data in a Prometheus that scraped a stack under load, and no alert fires", async () => {
  test.skip(
    !isPrometheusHere,
    "Prometheus is not installed (apt-get install prometheus), and the alerts' expressions need a real one",
  );
  // Sums and scrapes come slowly on a busy machine.
  test.setTimeout(420_000);
  const dataDirectory = await newDataDirectory();
  const cluster = await startTemporaryCluster({ fsync: false });
  // As a command that dumps the database does.
  writeFileSync(join(dataDirectory, "last-backup"), "");
  const metricsPorts = { "ad-service": await freePort(), api: await freePort() };
  const stack = await startDemoStack({
    dataDirectory,
    ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
    databaseUrl: cluster.url,
    video: join(root, "e2e/fixtures/clip-2s.mp4"),
    hasChat: false,
    cooldownSeconds: 0,
    dailyCap: 100,
    env: {
      "ad-service": {
        METRICS_PORT: String(metricsPorts["ad-service"]),
        TRUST_PROXY: "127.0.0.1",
        // The primary passes as its own replica, without a lag.
        REPORTS_DATABASE_URL: cluster.url,
      },
      api: { METRICS_PORT: String(metricsPorts.api) },
    },
  });
  try {
    const campaignId = await priceCampaign(stack);
    const prometheus = await startPrometheus(metricsPorts);
    try {
      // The first views are in the sums when Prometheus sees them first; an increase needs later ones.
      for (let round = 0; round < 4; round++) {
        await askWithoutAd(stack, { campaignId, userId: String(5000 + 10 * round) });
        const users = [1, 2, 3].map((user) => 10 * round + user);
        await Promise.all(
          users.flatMap((user) => [watchAd(stack, String(5000 + user)), followLink(stack, String(6000 + user))]),
        );
        await new Promise((resolve) => setTimeout(resolve, 4000));
      }
      const figures = rules.flatMap(({ record }) => (record === undefined ? [] : [record]));
      expect(figures.length).toBeGreaterThan(20);
      for (const figure of figures)
        await expect
          .poll(async () => (await prometheus.query(figure)).map(([, value]) => Number.isFinite(Number(value))), {
            message: figure,
            timeout: 60_000,
          })
          .toContain(true);
      expect(expressionsOfPanels.length).toBeGreaterThan(25);
      for (const { title, expression } of expressionsOfPanels)
        await expect
          .poll(async () => (await prometheus.query(expression)).map(([, value]) => Number.isFinite(Number(value))), {
            message: `${title}: ${expression}`,
            timeout: 60_000,
          })
          .toContain(true);
      const evaluated = await prometheus.rules();
      expect(evaluated.filter(({ type }) => type === "alerting")).toHaveLength(
        rules.filter(({ alert }) => alert !== undefined).length,
      );
      for (const { name, health, lastError, state } of evaluated)
        expect({ name, health, lastError, state: ofMachine.has(name) ? "inactive" : (state ?? "inactive") }).toEqual({
          name,
          health: "ok",
          lastError: undefined,
          state: "inactive",
        });
    } finally {
      await prometheus.stop();
    }
  } finally {
    await stack.stop();
    await cluster.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

/** They begin to wait where the machine of this test is busy, or its disk nearly full. */
const ofMachine = new Set([
  "IntermissionSlowRequests",
  "IntermissionConnectionsExhausted",
  "IntermissionStatisticsLate",
  "IntermissionLittleRoom",
]);

type Stack = Awaited<ReturnType<typeof startDemoStack>>;

/** The house video costs something and has budgets, so that there is spend, and money left. */
async function priceCampaign({ ads }: Stack): Promise<string> {
  const campaigns: { campaignId: string; name: string }[] = JSON.parse(await ads(["campaigns", "list", "--json"]));
  const campaignId = campaigns.find(({ name }) => name === "House video")?.campaignId ?? "";
  // Spread over what is left of the day, the budget would allow one view at a time.
  const budgets = ["--total-budget", "1000", "--daily-budget", "100", "--pacing", "asap"];
  await ads(["money", "terms", "Intermission", "credit"]);
  await ads(["campaigns", "update", campaignId, "--view-price", "0.01", ...budgets]);
  return campaignId;
}

/** A request while the only campaign with a video is paused. */
async function askWithoutAd(
  stack: Stack,
  { campaignId, userId }: { campaignId: string; userId: string },
): Promise<void> {
  const { ads, secrets, urls } = stack;
  await ads(["campaigns", "pause", campaignId]);
  const { body } = await new ScriptedViewer(urls.adService).open(secrets.botId, initDataOf(userId, secrets));
  expect(body.outcome).toBe("no-ad");
  await ads(["campaigns", "resume", campaignId]);
}

async function followLink({ urls, secrets }: Stack, userId: string): Promise<void> {
  const created = await companionApi(urls.api, secrets.backendApiKey).createCode(userId, `link ${userId}`);
  if (created.outcome !== "created") throw new Error(created.outcome);
  const headers = visitHeaders(addressOf(Number(userId)));
  const answer = await fetch(`${urls.adService}/${created.code}`, { redirect: "manual", headers });
  expect({ status: answer.status, page: answer.status === 302 ? "" : await answer.text() }).toEqual({
    status: 302,
    page: "",
  });
}

async function watchAd({ urls, secrets }: Stack, userId: string): Promise<void> {
  const api = companionApi(urls.api, secrets.backendApiKey);
  const created = await api.createCode(userId, userId);
  if (created.outcome !== "created") throw new Error(created.outcome);
  const viewer = new ScriptedViewer(urls.adService);
  const { body } = await viewer.open(secrets.botId, initDataOf(userId, secrets), created.code);
  if (body.outcome !== "session") throw new Error(JSON.stringify(body));
  const { session_id: id, token, ad } = body;
  await viewer.report(id, { token, reports: [], started: true });
  await new Promise((resolve) => setTimeout(resolve, ad.duration_ms));
  const reports = playedRanges(ad.duration_ms, 0, body.first_sequence);
  const ended = await viewer.report(id, { token, reports, closed: "tap" });
  expect(ended).toMatchObject({ status: 200, body: { state: "rewarded" } });
}

/** A Prometheus with this repository's rules, which scrapes each second. */
async function startPrometheus(ports: Readonly<Record<string, number>>) {
  const folder = mkdtempSync(join(tmpdir(), "intermission-prometheus-"));
  const jobs = Object.entries(ports).map(([server, port]) => ({
    job_name: `intermission-${server}`,
    static_configs: [{ targets: [`127.0.0.1:${port}`] }],
  }));
  // JSON is YAML.
  const settings = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [alertsFile],
    scrape_configs: jobs,
  };
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(settings));
  const address = `127.0.0.1:${await freePort()}`;
  const words = [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn("prometheus", words, { cwd: folder, stdio: "ignore" });
  const get = async (path: string) => (await (await fetch(`http://${address}/api/v1/${path}`)).json()).data;
  await expect
    .poll(
      () =>
        get("rules").then(
          () => true,
          () => false,
        ),
      { timeout: 60_000 },
    )
    .toBe(true);
  return {
    async query(expression: string): Promise<[time: number, value: string][]> {
      const { result } = await get(`query?query=${encodeURIComponent(expression)}`);
      return result.map(({ value }: { value: [number, string] }) => value);
    },
    async rules(): Promise<{ name: string; type: string; health: string; lastError?: string; state?: string }[]> {
      const { groups } = await get("rules");
      return groups.flatMap(({ rules: ofGroup }: { rules: object[] }) => ofGroup);
    },
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
