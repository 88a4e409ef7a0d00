import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { body, lineOf } from "@intermission/testing/receiver-cases";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signStandardWebhook } from "./signature.ts";

/** Runs the libraries of Standard Webhooks as `docs/webhooks.md` shows them; `npm run check` compares the page. */
const folder = join(import.meta.dirname, "../../../docs/webhooks");
/** As the ad service makes them. Its `_` is not base64. */
const token = "ad_8QkVqU3LzVnXqJYd7nJ6nQmF4Yb1bWgY5w1XoX3f9sTe";
const [old, next] = ["ad_old", "ad_next"];

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "intermission-standard-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Webhooks sent now, since the libraries take no other clock, with the verdict of a receiver that has these tokens. */
function webhooks(): [what: string, verdict: "genuine" | "refused", line: string][] {
  const now = Math.floor(Date.now() / 1000);
  const signed = (tokens: string[], timestampSeconds = now) => ({
    ...signStandardWebhook({ id: "evt_1", timestampSeconds, body, tokens }),
  });
  const line = (headers: Record<string, string>, tokens: string[], bytes: Uint8Array = body) =>
    lineOf({ headers, tokens, body: bytes });
  const sent = signed([token]);
  const bothTokens = signed([old, next]);
  return [
    ["as it was sent", "genuine", line(sent, [token])],
    ["signed with both tokens, for a receiver that knows the old one", "genuine", line(bothTokens, [old])],
    ["signed with both tokens, for a receiver that knows the next one", "genuine", line(bothTokens, [next])],
    ["for a receiver that knows both tokens", "genuine", line(signed([next]), [old, next])],
    ["for a receiver with an unset token beside the right one", "genuine", line(sent, ["", token])],
    ["signed with another token", "refused", line(sent, [old])],
    ["for a receiver whose token is not set", "refused", line(sent, [""])],
    ["with another body", "refused", line(sent, [token], Buffer.from('{"event":"rewarded","user_tg_id":"43"}'))],
    ["six minutes late", "refused", line(signed([token], now - 360), [token])],
    ["with another id", "refused", line({ ...sent, "webhook-id": "evt_2" }, [token])],
    ["without a signature", "refused", line({ ...sent, "webhook-signature": "" }, [token])],
  ];
}

function verdictsOf(command: string, words: string[], env: NodeJS.ProcessEnv = {}): string[] {
  const cases = webhooks();
  const input = cases.map(([, , line]) => line).join("\n");
  const { stdout, stderr } = spawnSync(command, words, {
    cwd: folder,
    input,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  expect(stderr).toBe("");
  return stdout
    .trim()
    .split("\n")
    .map((verdict, index) => `${cases[index]?.[0]}: ${verdict}`);
}
const expected = () => webhooks().map(([what, verdict]) => `${what}: ${verdict}`);

test("the npm library throws for a token, and takes it as a raw key or in base64", () => {
  expect(() => new Webhook(token)).toThrow();
  const sent = signStandardWebhook({
    id: "evt_1",
    timestampSeconds: Math.floor(Date.now() / 1000),
    body,
    tokens: [token],
  });
  const event = JSON.parse(body.toString());
  const inBase64 = `whsec_${Buffer.from(token).toString("base64")}`;
  for (const library of [new Webhook(token, { format: "raw" }), new Webhook(inBase64)])
    expect(library.verify(body, { ...sent })).toEqual(event);
});

test("the npm library, used as the page shows it, accepts genuine webhooks and refuses all others", () => {
  expect(verdictsOf(process.execPath, ["standard-webhooks.ts"])).toEqual(expected());
});

const isPythonHere = spawnSync("python3", ["--version"]).status === 0;
const isLibraryHere = spawnSync("python3", ["-c", "import standardwebhooks"]).status === 0;
if (!isPythonHere) console.log("!!! Python is not installed: its library of Standard Webhooks was not run.");
else if (!isLibraryHere)
  console.log("!!! Python's standardwebhooks is not installed: its example ran with the specified algorithm instead.");

test.skipIf(!isPythonHere)(
  "the key that the page gives to Python's library accepts genuine webhooks and refuses all others",
  () => {
    const env = isLibraryHere ? {} : { PYTHONPATH: specifiedAlgorithm(), PYTHONDONTWRITEBYTECODE: "1" };
    expect(verdictsOf("python3", ["standard_webhooks.py"], env)).toEqual(expected());
  },
);

/** Standard Webhooks 1.0, written out under the library's name, for machines whose registries do not have the library. */
function specifiedAlgorithm(): string {
  const library = join(scratch, "standardwebhooks");
  mkdirSync(library);
  writeFileSync(join(library, "__init__.py"), "");
  const algorithm = `import base64, hashlib, hmac, json, time

class WebhookVerificationError(Exception):
    pass

class Webhook:
    def __init__(self, secret):
        self.key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)

    def verify(self, body, headers):
        webhook_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
        signed = f"{webhook_id}.{timestamp}.{body}".encode()
        expected = "v1," + base64.b64encode(hmac.new(self.key, signed, hashlib.sha256).digest()).decode()
        if abs(time.time() - int(timestamp)) > 300 or expected not in headers["webhook-signature"].split(" "):
            raise WebhookVerificationError("not genuine")
        return json.loads(body)
`;
  writeFileSync(join(library, "webhooks.py"), algorithm);
  return scratch;
}
