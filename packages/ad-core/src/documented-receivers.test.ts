import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sign, signStandardWebhook } from "./signature.ts";

/** What `docs/webhooks.md` tells publishers to run, run: in each language that this machine has. */
const folder = join(import.meta.dirname, "../../../docs/webhooks");
const page = readFileSync(join(folder, "../webhooks.md"), "utf8");
const scratch = mkdtempSync(join(tmpdir(), "intermission-receivers-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const now = 1_767_323_381;
const token = "ad_new";
const oldToken = "ad_old";
const body = Buffer.from('{"event":"rewarded","event_id":"evt_1","user_tg_id":"42","reference":"Bestellung №7 🎁"}');

const headersOf = (changes: Record<string, string> = {}, signedBody = body, tokens = [token]) => ({
  "x-signature": sign(signedBody, tokens[0] ?? ""),
  ...signStandardWebhook({ id: "evt_1", timestampSeconds: now, body: signedBody, tokens }),
  ...changes,
});
const genuine = headersOf();

interface Webhook {
  headers: Record<string, string>;
  body?: Buffer;
  tokens?: string[];
  at?: number;
}

const webhooks: [name: string, expected: "genuine" | "refused", webhook: Webhook][] = [
  ["as it was sent", "genuine", { headers: genuine }],
  ["four minutes late", "genuine", { headers: genuine, at: now + 240 }],
  ["while tokens rotate", "genuine", { headers: headersOf({}, body, [oldToken, token]), tokens: [token, oldToken] }],
  ["an empty body", "genuine", { headers: headersOf({}, Buffer.alloc(0)), body: Buffer.alloc(0) }],
  ["another body", "refused", { headers: genuine, body: Buffer.from(body.toString().replace("42", "43")) }],
  ["a byte more", "refused", { headers: genuine, body: Buffer.concat([body, Buffer.from("\n")]) }],
  ["another token", "refused", { headers: genuine, tokens: [oldToken] }],
  ["six minutes late", "refused", { headers: genuine, at: now + 360 }],
  ["six minutes early", "refused", { headers: genuine, at: now - 360 }],
  ["another time", "refused", { headers: headersOf({ "webhook-timestamp": String(now + 1) }) }],
  ["another id", "refused", { headers: headersOf({ "webhook-id": "evt_2" }) }],
  ["upper-case hex", "refused", { headers: headersOf({ "x-signature": genuine["x-signature"].toUpperCase() }) }],
  ["a line break behind it", "refused", { headers: headersOf({ "x-signature": `${genuine["x-signature"]}\n` }) }],
  ["no X-Signature", "refused", { headers: headersOf({ "x-signature": "" }) }],
  ["no webhook-signature", "refused", { headers: headersOf({ "webhook-signature": "" }) }],
  ["time that is none", "refused", { headers: headersOf({ "webhook-timestamp": "soon" }) }],
];

const languages: Record<string, { file: string; command: string[]; probe: string[] }> = {
  TypeScript: { file: "verify.ts", command: [process.execPath, "verify.ts"], probe: [process.execPath, "--version"] },
  Python: { file: "verify.py", command: ["python3", "verify.py"], probe: ["python3", "--version"] },
  Go: { file: "verify.go", command: [join(scratch, "verify")], probe: ["go", "version"] },
  PHP: { file: "verify.php", command: ["php", "verify.php"], probe: ["php", "--version"] },
};

const run = (command: string[], input?: Buffer, env: NodeJS.ProcessEnv = {}) => {
  const [program = "", ...rest] = command;
  return spawnSync(program, rest, { cwd: folder, input, env: { ...process.env, ...env }, encoding: "utf8" });
};
const isHere = (probe: string[]) => run(probe).status === 0;

describe.each(Object.entries(languages))("the receiver in %s", (name, { file, command, probe }) => {
  const runs = isHere(probe);
  if (!runs) console.log(`!!! ${name} is not on this machine: its example in docs/webhooks.md was not run.`);

  test("stands on the page to the letter", () => {
    const [shown = ""] = readFileSync(join(folder, file), "utf8").split(/^(?:\/\/|#) --- command line/m);
    expect(page).toContain(shown.trim());
  });

  test.skipIf(!runs)("takes what is genuine and refuses everything else", () => {
    if (name === "Go") {
      const built = run(["go", "build", "-o", join(scratch, "verify"), "verify.go", "command_line.go"], undefined, {
        ...{ GOCACHE: join(scratch, "cache"), GOFLAGS: "-mod=mod", GO111MODULE: "off", GOPATH: join(scratch, "path") },
      });
      expect(built.stderr).toBe("");
    }
    for (const [what, expected, webhook] of webhooks) {
      const { headers, body: sent = body, tokens = [token], at = now } = webhook;
      const env = { HEADERS: JSON.stringify(headers), TOKENS: tokens.join(","), NOW: String(at) };
      const { stdout, stderr } = run(command, sent, env);
      expect(`${what}: ${stdout.trim()}${stderr}`).toBe(`${what}: ${expected}`);
    }
  });
});

test.skipIf(!isHere(["openssl", "version"]))("openssl says the same, by hand", () => {
  const file = join(scratch, "body.json");
  writeFileSync(file, body);
  const verify = (signature: string) => run(["bash", "verify.sh", file, signature, token]).stdout.trim();
  expect(verify(genuine["x-signature"])).toBe("genuine");
  expect(verify(genuine["x-signature"].replace(/.$/, "x"))).toBe("refused");
});
