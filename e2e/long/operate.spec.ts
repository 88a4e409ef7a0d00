import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { Agent, fetch as fetchBy } from "undici";
import { startTemporaryCluster } from "../../packages/testing/src/temporary-cluster.ts";
import { missingForOwnMachine, onOwnMachine } from "../../scripts/own-machine.ts";
import { freePort, root } from "../../scripts/processes.ts";
import { arriveAtLanding } from "../arrive-at-landing.ts";
import { makeCleanClone } from "./clean-clone.ts";
import { imageNamed, missingForContainers, openContainerEngine } from "./container-engine.ts";

/** npm downloads packages, an image is built, and the machine may be busy. */
test.setTimeout(30 * 60_000);
test.use({ ignoreHTTPSErrors: true });

/** docs/performance.md says how large the image is. */
const MAX_OWN_BYTES = 60_000_000;

let machine: ReturnType<typeof makeCleanClone>;
test.beforeAll(() => {
  machine = makeCleanClone();
});
test.afterAll(() => machine.remove());

/** The section's shell blocks in order, without the indentation of the list. */
function recipeOf(title: string): string[] {
  const page = readFileSync(join(machine.clone, "docs/operate.md"), "utf8");
  const section = new RegExp(`^### ${title}$(.*?)^##`, "ms").exec(page)?.[1] ?? "";
  return [...section.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indent = "", block = ""]) =>
    block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

const missing = missingForContainers();
if (missing !== undefined) console.log(`!!! The Compose recipe was not followed: ${missing}`);

test("the Compose recipe builds the image, a release's archive starts it without a clone, an ad opens through Caddy, both nodes serve its video, and all stop with 0", async ({
  page,
}) => {
  test.skip(missing !== undefined, missing);
  const engine = await openContainerEngine();
  try {
    const [http, https] = [await freePort(), await freePort()];
    const environment = `export PATH=${engine.bin}:$PATH HTTP_PORT=${http} HTTPS_PORT=${https}`;
    // What the page tells its reader to replace. Browsers reach the first name, Caddy signs both itself, and `bots add`
    // refuses a webhook to the first kind.
    const inTest = (block: string) =>
      block
        .replaceAll("rewards.example.com", "ads.localhost")
        .replaceAll("api.example.com", "api.local")
        .replaceAll("the-token-that-BotFather-shows", "AAH4d0f_a_token_that_nobody_has_xyz");
    const [build, settings, start, add] = recipeOf("Compose").map(inTest);
    await buildImage(`${environment}\n${build}`);
    const deploy = unpackArchive("localhost/intermission:local");
    await machine.run(`${environment}\n${settings}`, deploy);
    const sizeOf = (image: string) => Number(engine.podman("image", "inspect", "--format", "{{.Size}}", image));
    const ownBytes = sizeOf("intermission:local") - sizeOf(imageNamed("node"));
    console.log(`the image has ${(ownBytes / 1e6).toFixed(1)} MB more than that of Node`);
    expect(ownBytes).toBeLessThan(MAX_OWN_BYTES);
    await machine.run(`${environment}\n${start}`, deploy);
    const call = callThrough(https);
    for (const host of ["ads.localhost", "api.local"])
      await expect.poll(() => call(host, "/readyz").catch(String), { timeout: 120_000 }).toMatchObject({ status: 200 });
    await machine.run(`${environment}\n${add}`, deploy);
    const landing = `https://ads.localhost:${https}/app/123456789?click={click_id}`;
    const direct = ["--format", "direct_link", "--landing-url", landing];
    const ads = ["exec", "intermission_ad-service-1_1", "node", "ad-service/dist/cli.js"];
    engine.podman(...ads, "campaigns", "add", "--name", "Shop", "--advertiser", "Acme", ...direct);

    const [, key = ""] = /"backendApiKey": *"([^"]+)"/.exec(readFileSync(join(deploy, "companion.json"), "utf8")) ?? [];
    const created = () =>
      call("api.local", "/v1/codes/create", { authorization: `Bearer ${key}` }, { userId: "100000001" });
    await expect.poll(created, { timeout: 30_000 }).toMatchObject({ status: 200 });
    const { code } = (await created()).body as { code: string };
    // The other node sees the new campaign with its next refresh, within seconds.
    page.setDefaultTimeout(15_000);
    await expect(async () => {
      await page.goto(`https://ads.localhost:${https}/${code}`);
      await arriveAtLanding(page, `https://ads.localhost:${https}/app/123456789?click=clk_`);
    }).toPass({ timeout: 120_000 });
    await expect(page.getByRole("heading", { name: "Open this from Telegram" })).toBeVisible();

    // The recipe stored a video at one node. Its name is the hash of its bytes.
    const [{ fileName }] = JSON.parse(engine.podman(...ads, "creatives", "list", "--json"));
    for (const node of ["ad-service-1", "ad-service-2"]) {
      const script = `const answer = await fetch("http://127.0.0.1:8701/media/${fileName}");
        console.log(answer.status, require("node:crypto").hash("sha256", Buffer.from(await answer.arrayBuffer())))`;
      const served = engine.podman("exec", `intermission_${node}_1`, "node", "-e", `(async () => {${script}})()`);
      expect(served, node).toBe(`200 ${fileName.replace(".mp4", "")}`);
    }

    await machine.run(`${environment}\ndocker compose stop`, deploy);
    for (const node of ["ad-service-1", "ad-service-2", "api-1", "api-2"])
      expect(engine.podman("inspect", "--format", "{{.State.ExitCode}}", `intermission_${node}_1`), node).toBe("0");
  } finally {
    engine.remove();
  }
});

/** Unpacks the release's archive for a machine without a clone, and returns its folder. */
function unpackArchive(image: string): string {
  const archive = join(machine.folder, "intermission-deploy.tar.gz");
  execFileSync(process.execPath, ["scripts/pack-deploy.ts", "--image", image, "--to", archive], { cwd: root });
  execFileSync("tar", ["--extract", "--file", archive, "--directory", machine.folder]);
  return join(machine.folder, "intermission-deploy");
}

/** Installs packages without a cache of this clone: on a busy machine that takes longer than any other block. */
async function buildImage(block: string): Promise<void> {
  const shell = spawn("sh", ["-e", "-c", block], { cwd: machine.clone, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  shell.stderr.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-5000);
  });
  const [code] = await once(shell, "close");
  expect(code, errors).toBe(0);
}

/** Requests to a name that leads to this machine, whose certificate is Caddy's own. */
function callThrough(port: number) {
  const dispatcher = new Agent({
    connect: {
      rejectUnauthorized: false,
      lookup: (_name, _options, found) => found(null, [{ address: "127.0.0.1", family: 4 }]),
    },
  });
  return async (host: string, path: string, headers: Record<string, string> = {}, body?: object) => {
    const answer = await fetchBy(`https://${host}:${port}${path}`, {
      dispatcher,
      headers: { ...headers, ...(body && { "content-type": "application/json" }) },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
}

/**
 * What systemd does with these units, since none runs here: it checks them, and starts `ExecStart` with the settings of
 * `Environment` and `EnvironmentFile`. The sandbox of the units is only checked, not applied.
 */
const systemctl = `[ "$1" = enable ] || exit 0
shift 2
for unit; do
  file=/etc/systemd/system/$unit.service
  systemd-analyze verify --man=no "$file" 2>> /var/verified
  value() { sed -n "s/^$1=//p" "$file"; }
  mkdir -p "$(value WorkingDirectory)"
  cd "$(value WorkingDirectory)"
  {
    env -i $(value Environment) sh -c "set -a; . $(value EnvironmentFile); exec $(value ExecStart)" &
    echo $! >> /var/started
    wait $! && code=0 || code=$?
    echo "$unit $code" >> /var/ended
  } > /dev/null 2>&1 &
done`;

const missingMachine = missingForOwnMachine();
if (missingMachine !== undefined) console.log(`!!! The systemd recipe was not followed: ${missingMachine}`);

test("the systemd recipe installs the bundles, and the units start them, ready, until they are stopped", async () => {
  test.skip(missingMachine !== undefined, missingMachine);
  const cluster = await startTemporaryCluster();
  const folder = mkdtempSync("/tmp/intermission-systemd-");
  try {
    const program = (name: string, script: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, name), 0o755);
      return join(folder, name);
    };
    const files = {
      "/usr/bin/node": process.execPath,
      "/usr/local/bin/sudo": program("sudo", '[ "$1" = -u ] && shift 2\nexec "$@"'),
      "/usr/local/bin/systemctl": program("systemctl", systemctl),
    };
    // A machine of its own has no network: PostgreSQL is reached by its socket, and the first build downloads outside.
    await machine.run("npm run build");
    const relay = `require("node:net").createServer((client) => {
      const server = require("node:net").connect("${cluster.socket}");
      client.pipe(server).pipe(client);
      for (const side of [client, server]) side.on("error", () => { client.destroy(); server.destroy(); });
    }).listen(5432, "127.0.0.1")`;
    const script = [
      `node -e '${relay}' &`,
      `export HOME=${homedir()} PGHOST=127.0.0.1 PGUSER=postgres`,
      `cd ${machine.clone}`,
      ...recipeOf("systemd"),
      "kill $(cat /var/started)",
      "until [ $(cat /var/ended | wc -l) = 2 ]; do sleep 0.1; done",
      "echo; sort /var/ended; cat /var/verified",
    ];
    const { status, stdout, stderr } = onOwnMachine(files, script.join("\n"), 5 * 60_000);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(
      /(\{"status":"ready","version":"[^"]+"\}){2}\[\]\s+intermission-ad-service 0\nintermission-api 0\n$/,
    );
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
