import { execFile, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { body, genuine, lineOf, randomCases, receiverCases, token } from "@intermission/testing/receiver-cases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verify, verifyStandardWebhook } from "./signature.ts";

/** Runs the receivers that `docs/webhooks.md` shows to publishers, in each language that this machine has. */
const folder = join(import.meta.dirname, "../../../docs/webhooks");
const scratch = join(tmpdir(), `intermission-receivers-${randomUUID()}`);
beforeAll(() => void mkdirSync(scratch));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const languages: Record<string, { command: string[]; probe: string[] }> = {
  TypeScript: { command: [process.execPath, "verify.ts"], probe: [process.execPath, "--version"] },
  Python: { command: ["python3", "verify.py"], probe: ["python3", "--version"] },
  Go: { command: [join(scratch, "verify")], probe: ["go", "version"] },
  PHP: { command: ["php", "command_line.php"], probe: ["php", "--version"] },
};

const run = (command: string[], input?: Buffer, env: NodeJS.ProcessEnv = {}, cwd = folder) => {
  const [program = "", ...rest] = command;
  return spawnSync(program, rest, { cwd, input, env: { ...process.env, ...env }, encoding: "utf8" });
};
const isHere = (probe: string[]) => run(probe).status === 0;

function canRun(name: string, probe: string[]): boolean {
  const runs = isHere(probe);
  if (!runs) console.log(`!!! ${name} is not installed: its example in docs/webhooks.md was not run.`);
  return runs;
}

describe.each(Object.entries(languages))("the receiver in %s", (name, { command, probe }) => {
  const runs = canRun(name, probe);

  test.skipIf(!runs)("accepts genuine webhooks and refuses all others", () => {
    if (name === "Go") {
      copyFileSync(join(folder, "command_line.go"), join(scratch, "command_line.go"));
      const client = join(folder, "../../clients/go");
      const module = `module verify\nrequire intermission-ads v0.0.0\nreplace intermission-ads => ${client}\n`;
      writeFileSync(join(scratch, "go.mod"), module);
      const env = { GOCACHE: join(scratch, "cache"), GOFLAGS: "-mod=mod", GOPROXY: "off" };
      const built = run(["go", "build", "-o", "verify", "."], undefined, env, scratch);
      expect(built.stderr).toBe("");
    }
    const cases = [...receiverCases, ...randomCases()];
    const lines = cases.map(([, , webhook]) => lineOf(webhook));
    const { stdout, stderr } = run(command, Buffer.from(lines.join("\n")));
    expect(stderr).toBe("");
    const verdicts = stdout.trim().split("\n");
    expect(verdicts.map((verdict, index) => `${cases[index]?.[0]}: ${verdict}`)).toEqual(
      cases.map(([what, expected]) => `${what}: ${expected}`),
    );
  });
});

test("a webhook gives the parameters of AdMob's callback, and a test or another event rewards nobody", () => {
  const event = {
    event: "rewarded",
    event_id: "evt_1",
    bot_id: "7000000001",
    user_tg_id: "123456789",
    reference: "level 3",
  };
  const of = { ...event, occurred_at: "2026-01-02T03:04:05.678Z" };
  const bodies = [of, { ...of, test: true }, { ...of, event: "task_reversed" }].map((body) => JSON.stringify(body));
  const { stdout, stderr } = run([process.execPath, "from-admob.ts"], Buffer.from(bodies.join("\n")));
  expect(stderr).toBe("");
  const [parameters = "", ...others] = stdout.trim().split("\n");
  expect(Object.fromEntries(new URLSearchParams(parameters))).toEqual({
    ad_network: "intermission",
    ad_unit: "2747237135",
    custom_data: "level 3",
    reward_amount: "5",
    reward_item: "coins",
    timestamp: "1767323045678",
    transaction_id: "evt_1",
    user_id: "123456789",
  });
  expect(others).toEqual(["nobody", "nobody"]);
});

const hasOpenssl = canRun("openssl", ["openssl", "version"]);
const file = join(scratch, "body.json");
beforeAll(() => writeFileSync(file, body));

test.skipIf(!hasOpenssl)("the openssl command line on the page gives the same verdicts", () => {
  const judge = (signature: string) => run(["bash", "verify.sh", file, signature, token]).stdout.trim();
  expect(judge(genuine["x-signature"])).toBe("genuine");
  expect(judge(genuine["x-signature"].replace(/.$/, "x"))).toBe("refused");
});

test.skipIf(!hasOpenssl || !canRun("curl", ["curl", "--version"]))(
  "the curl command line on the page sends a genuine webhook",
  async () => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const [received, { headers }] = [Buffer.concat(chunks), request];
      const verdict = verifyStandardWebhook({ headers, body: received, tokens: [token], now: new Date() });
      const isGenuine = verify(received, headers["x-signature"], [token]) && verdict.outcome === "valid";
      response.writeHead(isGenuine ? 200 : 401).end(received);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
    const { stdout } = await promisify(execFile)("bash", ["send.sh", url, file, token], { cwd: folder });
    expect(stdout).toBe(`${body}\nanswered 200\n`);
    server.close();
  },
);
