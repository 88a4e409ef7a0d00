import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { Agent, fetch as fetchBy } from "undici";
import { startTemporaryCluster } from "../../packages/testing/src/temporary-cluster.ts";
import { freePort } from "../../scripts/processes.ts";
import { arriveAtLanding } from "../arrive-at-landing.ts";
import { makeCleanClone } from "./clean-clone.ts";
import { missingForContainers, openContainerEngine } from "./container-engine.ts";

/** npm downloads packages, an image is built, and the machine may be busy. */
test.setTimeout(30 * 60_000);
test.use({ ignoreHTTPSErrors: true });

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

test("the Compose recipe builds the image, an ad opens through Caddy, both nodes serve its video, and all stop with 0", async ({
  page,
}) => {
  test.skip(missing !== undefined, missing);
  const engine = await openContainerEngine();
  try {
    const [http, https] = [await freePort(), await freePort()];
    const inTest = (block: string) =>
      block
        .replace("ADS_HOST=", `HTTP_PORT=${http}\nHTTPS_PORT=${https}\nADS_HOST=`)
        .replaceAll("ads.example.com", "ads.localhost")
        .replaceAll("api.example.com", "api.localhost")
        .replaceAll("the-token-that-BotFather-shows", "AAH4d0f_a_token_that_nobody_has_xyz");
    const [build, start, add] = recipeOf("Compose").map(inTest);
    const deploy = join(machine.clone, "deploy");
    await buildImage(`PATH=${engine.bin}:$PATH\n${build}`);
    await machine.run(`PATH=${engine.bin}:$PATH\n${start}`, deploy);
    const call = callThrough(https);
    for (const host of ["ads.localhost", "api.localhost"])
      await expect.poll(() => call(host, "/readyz").catch(String), { timeout: 120_000 }).toMatchObject({ status: 200 });
    await machine.run(`PATH=${engine.bin}:$PATH\n${add}`, deploy);
    const landing = `https://ads.localhost:${https}/app/123456789?click={click_id}`;
    const direct = ["--format", "direct_link", "--landing-url", landing];
    const ads = ["exec", "intermission_ad-service-1_1", "node", "ad-service/dist/cli.js"];
    engine.podman(...ads, "campaigns", "add", "--name", "Shop", "--advertiser", "Acme", ...direct);

    const [, key = ""] = /"backendApiKey": *"([^"]+)"/.exec(readFileSync(join(deploy, "companion.json"), "utf8")) ?? [];
    const created = () =>
      call("api.localhost", "/v1/codes/create", { authorization: `Bearer ${key}` }, { userId: "100000001" });
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

    await machine.run(`PATH=${engine.bin}:$PATH\ndocker compose stop`, deploy);
    for (const node of ["ad-service-1", "ad-service-2", "api-1", "api-2"])
      expect(engine.podman("inspect", "--format", "{{.State.ExitCode}}", `intermission_${node}_1`), node).toBe("0");
  } finally {
    engine.remove();
  }
});

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

test("the systemd recipe installs the bundles, and the units start them, ready, until they are stopped", async () => {
  const cluster = await startTemporaryCluster();
  const folder = mkdtempSync("/tmp/intermission-systemd-");
  const system = standInForSystemd(folder, new URL(cluster.url).port);
  try {
    const [adPort, apiPort] = [await freePort(), await freePort()];
    const inTest = (block: string) =>
      block
        .replaceAll(/\/(opt|etc)\/(intermission|systemd)/g, `${folder}/$1/$2`)
        .replaceAll("127.0.0.1:5432", new URL(cluster.url).host)
        .replaceAll("127.0.0.1:8701", `127.0.0.1:${adPort}`)
        .replaceAll("127.0.0.1:8702", `127.0.0.1:${apiPort}`)
        .replace("PUBLIC_URL=", `PORT=${adPort}\nPUBLIC_URL=`)
        .replace("AD_SERVICE_URL=", `PORT=${apiPort}\nAD_SERVICE_URL=`);
    const outputs: string[] = [];
    mkdirSync(join(folder, "etc/systemd/system"), { recursive: true });
    for (const block of recipeOf("systemd").map(inTest)) {
      if (!block.includes("systemctl")) outputs.push(await machine.run(`PATH=${system.bin}:$PATH\n${block}`));
      else await system.start(block);
    }
    expect(outputs.join("\n")).toContain('{"status":"ready"}{"status":"ready"}');
    expect(outputs.join("\n").trimEnd().endsWith("[]")).toBe(true);
    expect(await system.stop()).toEqual([0, 0]);
  } finally {
    await system.stop();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/**
 * What systemd does with these units, since none runs here: it checks them, and starts `ExecStart` with the settings of
 * `EnvironmentFile`. The sandbox of the units is only checked, not applied.
 */
function standInForSystemd(folder: string, postgresPort: string) {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const program = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program("sudo", `[ "$1" = -u ] && shift 2\nexec env PGHOST=127.0.0.1 PGPORT=${postgresPort} PGUSER=postgres "$@"`);
  program("node", `exec '${process.execPath}' "$@"`);
  const children: ReturnType<typeof spawn>[] = [];
  return {
    bin,
    async start(block: string) {
      const units = /enable --now (.*)$/m.exec(block)?.[1]?.split(" ") ?? [];
      expect(units).toHaveLength(2);
      for (const name of units) {
        const unit = join(folder, "etc/systemd/system", `${name}.service`);
        if (spawnSync("which", ["systemd-analyze"]).status === 0) {
          const other = join(folder, `${name}.service`);
          writeFileSync(other, readFileSync(unit, "utf8").replace("/usr/bin/node", process.execPath));
          execFileSync("systemd-analyze", ["verify", "--man=no", other]);
        }
        const text = readFileSync(unit, "utf8").replaceAll(
          /\/(opt|etc|var\/lib)\/intermission/g,
          `${folder}/$1/intermission`,
        );
        const value = (key: string) => new RegExp(`^${key}=(.*)$`, "m").exec(text)?.[1] ?? "";
        const [, ...words] = value("ExecStart").split(" ");
        const file = readFileSync(value("EnvironmentFile"), "utf8").trim().split("\n");
        const pairs = [...value("Environment").split(" "), ...file].map((line) => line.split(/=(.*)/s).slice(0, 2));
        mkdirSync(value("WorkingDirectory"), { recursive: true });
        const env = Object.fromEntries(pairs);
        children.push(spawn(process.execPath, words, { cwd: value("WorkingDirectory"), env, stdio: "ignore" }));
      }
    },
    stop: () =>
      Promise.all(
        children.map(async (child) => {
          if (child.exitCode === null && child.signalCode === null) {
            const ended = once(child, "exit");
            child.kill("SIGTERM");
            await ended;
          }
          return child.exitCode;
        }),
      ),
  };
}
