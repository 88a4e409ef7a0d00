import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Service } from "kubernetes-models/v1";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { settingNames as adServiceSettings, readConfig as readAdServiceConfig } from "../apps/ad-service/src/config.ts";
import { settingNames as apiSettings, readConfig as readApiConfig } from "../apps/api/src/config.ts";
import { mistypedSettings } from "../packages/server/src/mistyped-settings.ts";
import { root } from "./processes.ts";

const deploy = join(root, "deploy");
const read = (name: string) => readFileSync(join(deploy, name), "utf8");
const settings: Readonly<Record<string, readonly string[]>> = { "ad-service": adServiceSettings, api: apiSettings };
/** Names that a server does not read itself. */
const others = ["NODE_ENV", "NODE_OPTIONS", "ADS_URL"];

function unknownSettings(server: string, names: readonly string[]): string[] {
  const known = [...(settings[server] ?? []), ...others];
  return names.filter((name) => !known.includes(name.replace(/_FILE$/, "")));
}

test("one file may have the settings of both servers: no setting of one is taken for a mistyped one of the other", () => {
  const ofBoth = Object.fromEntries([...adServiceSettings, ...apiSettings, ...others].map((name) => [name, "set"]));
  for (const names of [adServiceSettings, apiSettings])
    expect(mistypedSettings(ofBoth, { names, secrets: [] })).toEqual([]);
});

const kinds = { ConfigMap, Deployment, Service, PodDisruptionBudget, HorizontalPodAutoscaler, Ingress };

test.each(["ad-service.yaml", "api.yaml", "ingress.yaml"])("Kubernetes' schemas accept %s", (name) => {
  for (const document of parseAllDocuments(read(`kubernetes/${name}`))) {
    const manifest = document.toJS();
    const Kind = kinds[manifest.kind as keyof typeof kinds];
    expect(Kind, manifest.kind).toBeDefined();
    new Kind(manifest).validate();
    expect(manifest.apiVersion).toBe(Kind.apiVersion);
  }
  const deployment = { ...parseAllDocuments(read("kubernetes/api.yaml"))[1]?.toJS(), spec: { replicas: "two" } };
  expect(() => new Deployment(deployment).validate()).toThrow(/replicas/);
});

test.each(["ad-service", "api"])(
  "the manifests of %s name only settings that it reads, and select its own pods",
  (server) => {
    const [configuration, deployment, service, budget, scaler] = parseAllDocuments(
      read(`kubernetes/${server}.yaml`),
    ).map((document) => document.toJS());
    const [container] = deployment.spec.template.spec.containers;
    const names = [...Object.keys(configuration.data), ...container.env.map((one: { name: string }) => one.name)];
    expect(unknownSettings(server, names)).toEqual([]);
    expect(container.command).toEqual(["node", `${server}/dist/main.js`]);
    const labels = deployment.spec.template.metadata.labels;
    for (const selector of [
      deployment.spec.selector.matchLabels,
      service.spec.selector,
      budget.spec.selector.matchLabels,
    ])
      expect(labels).toMatchObject(selector);
    expect(scaler.spec.scaleTargetRef.name).toBe(deployment.metadata.name);
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      Number(configuration.data.DRAIN_SECONDS) + 10,
    );
  },
);

test("compose.yaml has two nodes of each server, which name only settings that the server reads", () => {
  const { services } = parse(read("compose.yaml"), { merge: true });
  for (const server of ["ad-service", "api"]) {
    const nodes = Object.keys(services).filter((name) => name.startsWith(`${server}-`));
    expect(nodes).toHaveLength(2);
    for (const node of nodes) {
      expect(unknownSettings(server, Object.keys(services[node].environment))).toEqual([]);
      expect(services[node]).toMatchObject({ read_only: true, command: ["node", `${server}/dist/main.js`] });
    }
  }
});

const imageEnvironment = Object.fromEntries(
  [...(/^ENV (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "").matchAll(/(\S+?)=(\S+)/g)].map(([, name, value]) => [
    name,
    value,
  ]),
);
const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://intermission:password@postgres:5432/intermission",
  ENCRYPTION_KEY: randomBytes(32).toString("base64"),
  OPERATOR_TOKEN: randomBytes(32).toString("hex"),
  METRICS_TOKEN: randomBytes(32).toString("hex"),
  S3_ACCESS_KEY_ID: "an-id",
  S3_SECRET_ACCESS_KEY: "a-secret",
};
const readConfigOf = { "ad-service": readAdServiceConfig, api: readApiConfig };

test.each(["ad-service", "api"] as const)("%s starts with the settings of the image and of compose.yaml", (server) => {
  const { services } = parse(read("compose.yaml"), { merge: true });
  const variables: Readonly<Record<string, string>> = {
    ...secrets,
    ADS_HOST: "ads.example.com",
    POSTGRES_PASSWORD: "password",
    BUCKET_SECRET: "the-secret",
  };
  for (const node of [`${server}-1`, `${server}-2`]) {
    const text = JSON.stringify(services[node].environment);
    const environment = JSON.parse(text.replaceAll(/\$\{(\w+)\}/g, (_, name) => variables[name] ?? "not in .env"));
    const config = readConfigOf[server]({ ...imageEnvironment, ...environment });
    if (!("media" in config)) continue;
    const { ROOT_ACCESS_KEY_ID, ROOT_SECRET_ACCESS_KEY } = services.bucket.environment;
    expect(config.media).toMatchObject({
      kind: "bucket",
      accessKeyId: ROOT_ACCESS_KEY_ID,
      secretAccessKey: variables[ROOT_SECRET_ACCESS_KEY.replace(/^\$\{(\w+)\}$/, "$1")],
    });
    expect(services.bucket.volumes).toEqual([`videos:/data/${environment.S3_BUCKET}`]);
  }
});

test.each(["ad-service", "api"] as const)("%s starts with the settings of the image and of its manifest", (server) => {
  const [configuration, deployment] = parseAllDocuments(read(`kubernetes/${server}.yaml`)).map((one) => one.toJS());
  const named: { name: string; value: string }[] = deployment.spec.template.spec.containers[0].env;
  const environment = named.map(({ name, value }) => {
    const ofFile = name.replace(/_FILE$/, "");
    return [ofFile, ofFile === name ? value : secrets[ofFile]];
  });
  readConfigOf[server]({ ...imageEnvironment, ...configuration.data, ...Object.fromEntries(environment) });
});

const has = (program: string, ...words: string[]) => spawnSync(program, words).status === 0;
const isSystemdHere = has("systemd-analyze", "--version");
if (!isSystemdHere)
  console.log("!!! The units were not checked: systemd-analyze is missing. Enable it: apt-get install systemd");

test.skipIf(!isSystemdHere).each(["ad-service", "api"])(
  "systemd accepts the unit of %s, whose exposure is below 2 of 10",
  (server) => {
    const folder = mkdtempSync(join(tmpdir(), "intermission-units-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const text = read(`systemd/intermission-${server}.service`);
    const names = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = ""]) =>
      pairs.split(" ").map((pair) => pair.split("=")[0] ?? ""),
    );
    expect(unknownSettings(server, names)).toEqual([]);
    // `verify` wants the program to exist.
    const unit = join(folder, `intermission-${server}.service`);
    writeFileSync(unit, text.replace("/usr/bin/node", process.execPath));
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", unit], { encoding: "utf8" });
    expect({ status: verified.status, err: verified.stderr }).toEqual({ status: 0, err: "" });
    const secure = spawnSync("systemd-analyze", ["security", "--offline=yes", "--threshold=20", unit], {
      encoding: "utf8",
    });
    expect(secure.status, secure.stdout).toBe(0);
  },
);

const alerts = parse(read("prometheus/alerts.yaml")).groups.flatMap(
  ({ rules }: { rules: { alert?: string; expr: string }[] }) => rules,
);

test("each of the fourteen alerts has two unit tests, one where it fires, and a row in docs/operate.md", () => {
  const page = readFileSync(join(root, "docs/operate.md"), "utf8");
  const cases: string[] = parse(read("prometheus/alerts.test.yaml")).tests.map(({ name }: { name: string }) => name);
  const names = alerts.flatMap(({ alert }: { alert?: string }) => (alert === undefined ? [] : [alert]));
  expect(names).toHaveLength(14);
  for (const name of names) {
    expect(cases).toContain(`${name} fires`);
    expect(cases).toContain(`${name} is quiet`);
    expect(page).toContain(`| \`${name}\` |`);
  }
});

/** The names of our metrics that the servers export, by their sources. */
function exportedMetrics(): Set<string> {
  const sources = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "apps/*/src/*.ts", "packages/server/src/*.ts"],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  const files = sources.split("\n").filter((file) => file !== "" && !file.endsWith(".test.ts"));
  return new Set(
    files.flatMap((file) =>
      metricsIn(readFileSync(join(root, file), "utf8"), /"(intermission_\w+)"|^ {2}(intermission_\w+):/gm),
    ),
  );
}

function metricsIn(text: string, form: RegExp): string[] {
  return [...text.matchAll(form)].map(([all, ...names]) => names.find((name) => name !== undefined) ?? all);
}

test("rules, dashboard and docs/operate.md name only metrics that a server exports, and the page has all of them", () => {
  const exported = exportedMetrics();
  expect(exported.size).toBeGreaterThan(30);
  const page = readFileSync(join(root, "docs/operate.md"), "utf8");
  const texts = [
    read("prometheus/alerts.yaml"),
    read("prometheus/alerts.test.yaml"),
    read("grafana/intermission.json"),
    page,
  ];
  for (const text of texts) {
    const named = metricsIn(text, /\bintermission_\w+/g).map((name) => name.replace(/_(bucket|count|sum)$/, ""));
    expect(named.filter((name) => !exported.has(name))).toEqual([]);
  }
  const [table = ""] = /\| metric \|[\s\S]*?\n\n/.exec(page) ?? [];
  expect([...exported].filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});

test("each recorded figure of the dashboard is one of the rules", () => {
  const records: string[] = parse(read("prometheus/alerts.yaml")).groups.flatMap(
    ({ rules }: { rules: { record?: string }[] }) => rules.flatMap(({ record }) => record ?? []),
  );
  const figures = metricsIn(read("grafana/intermission.json"), /\bintermission:[\w:]+/g);
  expect(figures.length).toBeGreaterThan(3);
  expect(figures.filter((figure) => !records.includes(figure))).toEqual([]);
});

const isPromtoolHere = has("promtool", "--version");
if (!isPromtoolHere)
  console.log("!!! The alerts were not tested: promtool is missing. Enable it: apt-get install prometheus");

test.skipIf(!isPromtoolHere)(
  "promtool accepts the alerts, and each fires when it should and else is quiet",
  {
    tags: "long",
  },
  () => {
    for (const words of [
      ["check", "rules", "alerts.yaml"],
      ["test", "rules", "alerts.test.yaml"],
    ]) {
      const { status, stdout, stderr } = spawnSync("promtool", words, {
        cwd: join(deploy, "prometheus"),
        encoding: "utf8",
      });
      expect({ status, out: status === 0 ? "" : `${stdout}${stderr}` }).toEqual({ status: 0, out: "" });
    }
  },
);

const nginx = ["nginx", "/usr/sbin/nginx"].find((program) => has(program, "-v"));
if (nginx === undefined)
  console.log("!!! nginx.conf was not checked: nginx is missing. Enable it: apt-get install nginx-light");

test.skipIf(nginx === undefined)("nginx accepts the sample with certificates of its two names", () => {
  const folder = mkdtempSync(join(tmpdir(), "intermission-nginx-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=example.com"];
  expect(has("openssl", "req", "-x509", ...ec, "-keyout", key, "-out", certificate)).toBe(true);
  const sample = read("proxy/nginx.conf")
    .replaceAll(/\/etc\/ssl\/\S+\.pem/g, certificate)
    .replaceAll(/\/etc\/ssl\/\S+\.key/g, key);
  const file = join(folder, "nginx.conf");
  writeFileSync(file, `pid ${folder}/pid; error_log ${folder}/error.log; events {} http { access_log off; ${sample} }`);
  const { status, stderr } = spawnSync(
    nginx ?? "",
    ["-t", "-q", "-p", folder, "-c", file, "-e", `${folder}/error.log`],
    {
      encoding: "utf8",
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

const isCaddyHere = has("caddy", "version");
if (!isCaddyHere)
  console.log("!!! The Caddyfiles were not checked: caddy is missing. Enable it: apt-get install caddy");

test.skipIf(!isCaddyHere).each(["proxy/Caddyfile", "proxy/compose.Caddyfile"])("Caddy accepts %s", (name) => {
  const env = { ...process.env, ADS_HOST: "ads.example.com", API_HOST: "api.example.com" };
  const words = ["adapt", "--validate", "--config", join(deploy, name), "--adapter", "caddyfile"];
  const { status, stderr } = spawnSync("caddy", words, { env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
});

/** A node of the ad service, as far as a proxy sees it: it says its name, and when it stops it fails /readyz first. */
async function openNode(name: string) {
  let isReady = true;
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/readyz" && !isReady ? 503 : 200;
    response.end(name);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail() {
      isReady = false;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test.skipIf(!isCaddyHere)(
  "behind compose's Caddy all parts of an upload reach one node, viewers reach both, and a node that stops is replaced",
  { timeout: 60_000 },
  async () => {
    const [first, second] = [await openNode("first"), await openNode("second")];
    const [ads, api, inner] = [await freePort(), await freePort(), await freePort()];
    const folder = mkdtempSync(join(tmpdir(), "intermission-caddy-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const sample = read("proxy/compose.Caddyfile")
      .replaceAll("ad-service-1:8701", first.address)
      .replaceAll("ad-service-2:8701", second.address)
      .replace("http://caddy:8701", `http://127.0.0.1:${inner}`);
    writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${sample}`);
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const hosts = { ADS_HOST: `http://127.0.0.1:${ads}`, API_HOST: `http://127.0.0.1:${api}` };
    const caddy = spawn("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], {
      env: { ...env, ...hosts },
      stdio: "ignore",
    });
    onTestFinished(() => void caddy.kill());
    let cookie = "";
    const nodeOf = async (path: string, kept = "") => {
      const answer = await fetch(`${hosts.ADS_HOST}${path}`, { headers: { cookie: kept } });
      cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? cookie;
      expect(answer.status).toBe(200);
      return answer.text();
    };
    const upload = "/operator/v1/uploads/0123";
    await expect.poll(() => nodeOf(upload).catch(() => ""), { timeout: 20_000 }).toMatch(/first|second/);
    const node = await nodeOf(upload, cookie);
    const parts = Array.from({ length: 20 }, (_, part) => (part === 19 ? "/operator/v1/creatives/uploaded" : upload));
    for (const part of parts) expect(await nodeOf(part, cookie)).toBe(node);
    const viewers = await Promise.all(Array.from({ length: 40 }, () => nodeOf("/player/v1/sessions", cookie)));
    expect(new Set(viewers)).toEqual(new Set(["first", "second"]));
    (node === "first" ? first : second).fail();
    await expect.poll(() => nodeOf(upload, cookie), { timeout: 20_000 }).toBe(node === "first" ? "second" : "first");
  },
);
