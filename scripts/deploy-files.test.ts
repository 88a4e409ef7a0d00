import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseEnv } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { settingNames as adServiceSettings, readConfig as readAdServiceConfig } from "../apps/ad-service/src/config.ts";
import { settingNames as apiSettings, readConfig as readApiConfig } from "../apps/api/src/config.ts";
import { mistypedSettings } from "../packages/server/src/mistyped-settings.ts";
import { missingForOwnMachine, onOwnMachine } from "./own-machine.ts";
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

test.each(["ad-service", "api"])(
  "the manifests of %s name only settings that it reads, and select its own pods",
  (server) => {
    const [configuration, deployment, service, budget, scaler] = parseAllDocuments(
      read(`kubernetes/${server}.yaml`),
    ).map((document) => document.toJS());
    const [container] = deployment.spec.template.spec.containers;
    const names = [...Object.keys(configuration.data), ...container.env.map((one: { name: string }) => one.name)];
    expect(unknownSettings(server, names)).toEqual([]);
    expect(container.command).toEqual(["node", "--disable-sigusr1", `${server}/dist/main.js`]);
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

test("gateway.yaml and ingress.yaml lead the same names and paths to the same services, whose ports have the names", () => {
  interface Backend {
    readonly service: { readonly name: string; readonly port: { readonly name: string } };
  }
  const documentsOf = (name: string) => parseAllDocuments(read(`kubernetes/${name}`)).map((one) => one.toJS());
  const portOf = (service: string): { name: string; port: number } =>
    documentsOf(`${service}.yaml`).find(({ kind }) => kind === "Service").spec.ports[0];
  const ofIngress = documentsOf("ingress.yaml").flatMap(({ spec }) =>
    spec.rules.flatMap((rule: { host: string; http: { paths: { path: string; backend: Backend }[] } }) =>
      rule.http.paths.map(({ path, backend: { service } }) => {
        expect(service.port.name).toBe(portOf(service.name).name);
        return `${rule.host}${path} → ${service.name}:${portOf(service.name).port}`;
      }),
    ),
  );
  const [gateway, ...routes] = documentsOf("gateway.yaml");
  const ofGateway = routes.flatMap(({ spec }) => {
    const [{ name, sectionName }] = spec.parentRefs;
    expect(name).toBe(gateway.metadata.name);
    const listener = gateway.spec.listeners.find((one: { name: string }) => one.name === sectionName);
    if (listener.protocol === "HTTP") {
      expect(spec.rules).toMatchObject([{ filters: [{ requestRedirect: { scheme: "https", statusCode: 301 } }] }]);
      return [];
    }
    expect(spec.hostnames).toEqual([listener.hostname]);
    return spec.rules.map((rule: { matches?: { path: { value: string } }[]; backendRefs: object[] }) => {
      const [backend] = rule.backendRefs as { name: string; port: number }[];
      return `${listener.hostname}${rule.matches?.[0]?.path.value ?? "/"} → ${backend?.name}:${backend?.port}`;
    });
  });
  expect(ofGateway.toSorted()).toEqual(ofIngress.toSorted());
});

test("compose.yaml has two nodes of each server, which name only settings that the server reads", () => {
  const { services } = parse(read("compose.yaml"), { merge: true });
  for (const server of ["ad-service", "api"]) {
    const nodes = Object.keys(services).filter((name) => name.startsWith(`${server}-`));
    expect(nodes).toHaveLength(2);
    for (const node of nodes) {
      expect(unknownSettings(server, Object.keys(services[node].environment))).toEqual([]);
      expect(services[node]).toMatchObject({
        read_only: true,
        command: ["node", "--disable-sigusr1", `${server}/dist/main.js`],
      });
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

/** Runs the second step of the Compose recipe in a folder in place of `deploy`. */
function writeSettingsOfRecipe(folder = mkdtempSync(join(tmpdir(), "intermission-compose-"))): string {
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [, section = ""] = readFileSync(join(root, "docs/operate.md"), "utf8").split("\n### Compose\n");
  const [, block = ""] = /^2\. .*?^ *```sh\n(.*?)^ *```/ms.exec(section) ?? [];
  execFileSync("sh", ["-e", "-c", block.replaceAll(/^ +/gm, "")], { cwd: folder });
  return folder;
}

test("the recipe's secrets are all files of compose.yaml, in a folder of their owner alone, and a second run keeps them", () => {
  const { secrets: declared } = parse(read("compose.yaml"));
  const folder = writeSettingsOfRecipe();
  const files = Object.values<{ file: string }>(declared).map(({ file }) => basename(file));
  expect(readdirSync(join(folder, "secrets")).toSorted()).toEqual([...files, "bucket.env"].toSorted());
  expect(statSync(join(folder, "secrets")).mode & 0o777).toBe(0o700);
  const textOf = (file: string) => readFileSync(join(folder, "secrets", file), "utf8");
  const before = files.map(textOf);
  writeSettingsOfRecipe(folder);
  expect(files.map(textOf)).toEqual(before);
  // The servers' user in the container is another one.
  for (const file of files) expect(statSync(join(folder, "secrets", file)).mode & 0o777, file).toBe(0o644);
});

test.each(["ad-service", "api"] as const)(
  "%s starts with the settings of the image, of compose.yaml and of its recipe",
  (server) => {
    const { services, secrets: declared } = parse(read("compose.yaml"), { merge: true });
    const folder = writeSettingsOfRecipe();
    const hosts = parseEnv(readFileSync(join(folder, ".env"), "utf8"));
    for (const node of [`${server}-1`, `${server}-2`]) {
      const { environment: ofFile, secrets: mounted } = services[node];
      const text = JSON.stringify(ofFile)
        .replaceAll(/\$\{(\w+)\}/g, (_, name) => hosts[name] ?? "not in .env")
        .replaceAll(/\/run\/secrets\/([\w-]+)/g, (_, name) =>
          mounted.includes(name) ? join(folder, declared[name].file) : "not mounted",
        );
      const environment = JSON.parse(text);
      const config = readConfigOf[server]({ ...imageEnvironment, ...environment });
      const password = readFileSync(join(folder, "secrets/postgres-password"), "utf8").trim();
      expect(config.databaseUrl).toBe(`postgres://intermission:${password}@postgres:5432/intermission`);
      if (!("media" in config)) continue;
      const { ROOT_SECRET_ACCESS_KEY } = parseEnv(readFileSync(join(folder, services.bucket.env_file[0]), "utf8"));
      expect(config.media).toMatchObject({
        kind: "bucket",
        accessKeyId: services.bucket.environment.ROOT_ACCESS_KEY_ID,
        secretAccessKey: ROOT_SECRET_ACCESS_KEY,
      });
      expect(services.bucket.volumes).toEqual([`videos:/data/${environment.S3_BUCKET}`]);
    }
  },
);

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
const missingMachine = missingForOwnMachine();
if (missingMachine !== undefined)
  console.log(`!!! The samples of systemd, nginx and Caddy were not tried at their own places: ${missingMachine}`);
const isSystemdHere = has("systemd-analyze", "--version");
if (!isSystemdHere)
  console.log("!!! The units were not checked: systemd-analyze is missing. Enable it: apt-get install systemd");

// The backup's settings are those of the ad service, whose file it reads.
test.skipIf(!isSystemdHere).each([
  ["ad-service", "ad-service"],
  ["api", "api"],
  ["backup", "ad-service"],
] as const)("systemd accepts the unit of %s, whose exposure is below 2 of 10", (name, server) => {
  const text = read(`systemd/intermission-${name}.service`);
  const names = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = ""]) =>
    pairs.split(" ").map((pair) => pair.split("=")[0] ?? ""),
  );
  expect(unknownSettings(server, names)).toEqual([]);
  const unit = join(deploy, `systemd/intermission-${name}.service`);
  const secure = spawnSync("systemd-analyze", ["security", "--offline=yes", "--threshold=20", unit], {
    encoding: "utf8",
  });
  expect(secure.status, secure.stdout).toBe(0);
  if (missingMachine !== undefined) return;
  // `verify` wants the programs to exist.
  const programs = {
    "/usr/bin/node": process.execPath,
    "/mnt/back-up-postgres.sh": join(deploy, "back-up-postgres.sh"),
  };
  const units = name === "backup" ? `${unit} ${unit.replace(/service$/, "timer")}` : unit;
  const place = "mkdir -p /mnt/opt/intermission && cp /mnt/back-up-postgres.sh /mnt/opt/intermission/";
  const bind = "mkdir -p /opt && mount --bind /mnt/opt /opt";
  const verified = onOwnMachine(programs, `${place}; ${bind}; systemd-analyze verify --man=no ${units}`);
  expect({ status: verified.status, err: verified.stderr }).toEqual({ status: 0, err: "" });
});

const alerts = parse(read("prometheus/alerts.yaml")).groups.flatMap(
  ({ rules }: { rules: { alert?: string; expr: string; annotations?: Record<string, string> }[] }) => rules,
);

test("each alert has two unit tests, one where it fires, and its place in docs/runbooks.md, which it names", () => {
  const page = readFileSync(join(root, "docs/runbooks.md"), "utf8");
  const cases: string[] = parse(read("prometheus/alerts.test.yaml")).tests.map(({ name }: { name: string }) => name);
  const names = alerts.flatMap(({ alert }: { alert?: string }) => (alert === undefined ? [] : [alert]));
  expect(names.length).toBeGreaterThan(20);
  expect([...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)).toEqual(names);
  for (const { alert, annotations } of alerts)
    if (alert !== undefined)
      expect(annotations?.runbook_url).toBe(`{{ $externalLabels.runbooks }}#${alert.toLowerCase()}`);
  for (const name of names) {
    expect(cases).toContain(`${name} fires`);
    expect(cases).toContain(`${name} is quiet`);
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
      ["check", "config", "prometheus.yaml"],
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

test.skipIf(nginx === undefined || missingMachine !== undefined)(
  "nginx serves both names of the sample as it stands, with their certificates, and leads from http to https",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "intermission-nginx-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=example.com"];
    expect(has("openssl", "req", "-x509", ...ec, "-keyout", key, "-out", certificate)).toBe(true);
    const names = ["rewards.example.com", "api.example.com"];
    const log = join(folder, "error.log");
    const [file, hosts] = [join(folder, "nginx.conf"), join(folder, "hosts")];
    const sample = join(deploy, "proxy/nginx.conf");
    writeFileSync(file, `pid ${folder}/pid; error_log ${log}; events {} http { access_log off; include ${sample}; }`);
    writeFileSync(hosts, `127.0.0.1 localhost ${names.join(" ")}\n`);
    const certificates = names.flatMap((name) => [
      [`/etc/ssl/${name}.pem`, certificate],
      [`/etc/ssl/${name}.key`, key],
    ]);
    const start = `${nginx} -p ${folder} -c ${file} -e ${log}`;
    // No node is behind it.
    const ask = names.map((name) =>
      [
        `curl -s -o /dev/null -w '%{http_code} %{redirect_url}\\n' http://${name}/app/1`,
        `curl -sk -o /dev/null -w '%{http_code}\\n' https://${name}/readyz`,
      ].join("\n"),
    );
    const script = [`${start} -t -q`, start, ...ask].join("\n");
    const { status, stdout, stderr } = onOwnMachine(
      { ...Object.fromEntries(certificates), "/etc/hosts": hosts },
      script,
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toBe(names.map((name) => `301 https://${name}/app/1\n502\n`).join(""));
  },
);

const isCaddyHere = has("caddy", "version");
if (!isCaddyHere)
  console.log("!!! The Caddyfiles were not checked: caddy is missing. Enable it: apt-get install caddy");

test.skipIf(!isCaddyHere).each(["proxy/Caddyfile", "proxy/compose.Caddyfile"])("Caddy accepts %s", (name) => {
  const env = { ...process.env, ADS_HOST: "rewards.example.com", API_HOST: "api.example.com" };
  const words = ["adapt", "--validate", "--config", join(deploy, name), "--adapter", "caddyfile"];
  const { status, stderr } = spawnSync("caddy", words, { env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
});

test.skipIf(!isCaddyHere || missingMachine !== undefined)(
  "behind compose's Caddy all parts of an upload reach one node, viewers reach both, and a node that stops is replaced",
  { tags: "long", timeout: 180_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "intermission-caddy-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const hosts = join(folder, "hosts");
    const nodes = "127.0.0.2 ad-service-1\n127.0.0.3 ad-service-2\n127.0.0.4 caddy api-1 api-2";
    writeFileSync(hosts, `127.0.0.1 localhost ads.localhost api.localhost\n${nodes}\n`);
    // Caddy signs names of this kind itself.
    const settings = "ADS_HOST=ads.localhost API_HOST=api.localhost";
    const script = `${settings} exec ${process.execPath} ${join(root, "scripts/behind-caddy.ts")}`;
    const { status, stdout, stderr } = onOwnMachine({ "/etc/hosts": hosts }, script, 150_000);
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: "as expected\n" });
  },
);
