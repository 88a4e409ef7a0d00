import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { startDemoStack } from "../../scripts/demo-stack.ts";
import { freePort, root } from "../../scripts/processes.ts";
import { companionApi } from "../kill/companion-api.ts";
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

const alertsFile = join(root, "deploy/prometheus/alerts.yaml");
const rules: readonly Rule[] = parse(readFileSync(alertsFile, "utf8")).groups.flatMap(
  ({ rules: ofGroup }: { rules: Rule[] }) => ofGroup,
);

test("each figure of the twelve alerts has data in a Prometheus that scraped a stack under load, and none fires", async () => {
  test.skip(
    !isPrometheusHere,
    "Prometheus is not installed (apt-get install prometheus), and the alerts' expressions need a real one",
  );
  const dataDirectory = await newDataDirectory();
  const metricsPorts = { "ad-service": await freePort(), api: await freePort() };
  const stack = await startDemoStack({
    dataDirectory,
    ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
    video: join(root, "e2e/fixtures/clip-2s.mp4"),
    hasChat: false,
    cooldownSeconds: 0,
    dailyCap: 100,
    env: {
      "ad-service": { METRICS_PORT: String(metricsPorts["ad-service"]) },
      api: { METRICS_PORT: String(metricsPorts.api) },
    },
  });
  try {
    const prometheus = await startPrometheus(metricsPorts);
    try {
      // The first views are in the sums when Prometheus sees them first; an increase needs later ones.
      for (let round = 0; round < 4; round++) {
        await Promise.all([1, 2, 3].map((user) => watchAd(stack, String(5000 + 10 * round + user))));
        await new Promise((resolve) => setTimeout(resolve, 4000));
      }
      const figures = rules.flatMap(({ record }) => (record === undefined ? [] : [record]));
      expect(figures).toHaveLength(12);
      for (const figure of figures)
        await expect
          .poll(async () => (await prometheus.query(figure)).map(([, value]) => Number.isFinite(Number(value))), {
            message: figure,
            timeout: 60_000,
          })
          .toContain(true);
      const evaluated = await prometheus.rules();
      expect(evaluated.filter(({ type }) => type === "alerting")).toHaveLength(12);
      for (const { name, health, lastError, state } of evaluated)
        expect({ name, health, lastError, state: state ?? "inactive" }).toEqual({
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
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

async function watchAd({ urls, secrets }: Awaited<ReturnType<typeof startDemoStack>>, userId: string): Promise<void> {
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
    ...[`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`],
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
