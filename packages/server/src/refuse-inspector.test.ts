import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "@intermission/testing/free-port";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");
const refusal = JSON.stringify(join(import.meta.dirname, "refuse-inspector.ts"));

/** Answers each line with one of its own: then its event loop has turned since the signal. */
const echo = 'process.stdin.on("data", () => console.log("here")); console.log("started");';

const canConnect = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("close", () => socket.destroy()).on("connect", () => socket.end());
  });

test.each([
  ["by default, it opens", [], "", true],
  ["with the import, it stays closed", [], `import ${refusal};`, false],
  ["with the flag, it stays closed", ["--disable-sigusr1"], "", false],
] as const)("SIGUSR1 and the port of the inspector: %s", async (_, flags, first, isOpen) => {
  const port = await freePort();
  const words = [...flags, `--inspect-port=127.0.0.1:${port}`, "--input-type=module-typescript", "-e", first + echo];
  const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "ignore"] });
  try {
    const said = () => new Promise((resolve) => child.stdout.once("data", resolve));
    await said();
    child.kill("SIGUSR1");
    for (let turn = 0; turn < 3; turn++) {
      const answer = said();
      child.stdin.write("?\n");
      await answer;
    }
    if (isOpen) await expect.poll(() => canConnect(port)).toBe(true);
    else expect(await canConnect(port)).toBe(false);
  } finally {
    child.kill("SIGKILL");
  }
});

test("every program of the deployment starts with the flag, or imports the refusal first", () => {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const commands = [
    "deploy/Dockerfile",
    "deploy/compose.yaml",
    "deploy/kubernetes/ad-service.yaml",
    "deploy/kubernetes/api.yaml",
    "deploy/systemd/intermission-ad-service.service",
    "deploy/systemd/intermission-api.service",
  ].flatMap((path) =>
    read(path)
      .split("\n")
      .filter((line) => /dist\/main\.js/.test(line)),
  );
  expect(commands).toHaveLength(7);
  for (const command of commands) expect(command).toContain("--disable-sigusr1");
  for (const app of ["ad-service", "api", "demo-bot"])
    expect(read(`apps/${app}/src/main.ts`)).toMatch(/^import "@intermission\/server\/refuse-inspector";/);
});
