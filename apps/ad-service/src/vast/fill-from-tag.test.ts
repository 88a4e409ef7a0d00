import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inline, vast } from "../../test/fixtures/sample-ad-server.ts";

const src = join(import.meta.dirname, "..");

/** What an operator reads when a tag returns no ad: the server's own logger writes to standard output. */
function loggedFor(answer: { status: number; headers?: Record<string, string>; body: string }): string {
  const file = (path: string) => JSON.stringify(join(src, path));
  const script = `
    import { createServer } from "node:http";
    import { createLogger } from ${JSON.stringify(join(src, "../../../packages/server/src/logger.ts"))};
    import { describeDevice } from ${file("creatives/choose-rendition.ts")};
    import { openGuardedRequests } from ${file("outbound/guarded-request.ts")};
    import { fillFromTag, openTags } from ${file("vast/fill-from-tag.ts")};
    const answer = ${JSON.stringify(answer)};
    const server = createServer((_request, response) => response.writeHead(answer.status, answer.headers).end(answer.body));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { vast: ["127.0.0.1"] } });
    const now = () => new Date();
    const tags = openTags({ requests, isPlainHttpAllowed: true, log: createLogger({ level: "info", name: "ads" }), now });
    const url = "http://127.0.0.1:" + server.address().port + "/tag?key=SECRET-KEY";
    const tag = { botId: "7", creativeId: "cre_1", sessionId: "7-abc", url, userAgent: "phone", totalMs: 5000 };
    await fillFromTag(tags, { ...tag, device: describeDevice({}) });
    await requests.close();
    server.close();
  `;
  const args = ["--conditions=source", "--input-type=module-typescript", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout;
}

const withoutErrors = (document: string) => document.replaceAll(/<Error>[\s\S]*?<\/Error>/g, "");

test.each([
  [100, { status: 200, body: "<VAST version='4.0'><Ad>SECRET-KEY" }],
  [101, { status: 200, body: "<html>SECRET-KEY</html>" }],
  [102, { status: 200, body: vast("", "9.0") }],
  [201, { status: 200, body: withoutErrors(inline()).replaceAll("Linear>", "NonLinearAds>") }],
  [202, { status: 200, body: withoutErrors(inline({ duration: "-00:00:10" })) }],
  [301, { status: 500, body: "no key SECRET-KEY" }],
  [301, { status: 302, body: "go on with SECRET-KEY" }],
  [403, { status: 200, body: withoutErrors(inline({ files: "" })) }],
])("VAST error code %i is in the log, without the tag's query and the ad server's response", (code, answer) => {
  const line = loggedFor(answer);
  expect(JSON.parse(line)).toMatchObject({ msg: "a VAST tag returned no ad", creativeId: "cre_1", code });
  expect(line).not.toContain("SECRET-KEY");
  expect(line).not.toContain("/tag");
});
