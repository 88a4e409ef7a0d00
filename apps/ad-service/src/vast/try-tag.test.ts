import { expect, onTestFinished, test } from "vitest";
import { startAdServer } from "../../test/fixtures/ad-server-fixture.ts";
import { type Answer, inline, vast } from "../../test/fixtures/sample-ad-server.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import { openTurns } from "./read-xml.ts";
import { faultOfTag } from "./try-tag.ts";

async function tried(answer: Answer) {
  const server = await startAdServer({ "/tag": answer });
  const requests = openGuardedRequests({
    isPlainHttpAllowed: true,
    allowedNetworks: { vast: ["127.0.0.1"], webhook: [] },
  });
  onTestFinished(() => requests.close());
  const fault = await faultOfTag(
    { requests, isPlainHttpAllowed: true, turns: openTurns() },
    { url: `${server.address}/tag`, now: () => new Date() },
  );
  return { fault, calls: server.calls };
}

test("a tag with an ad, or without one at the moment, has no fault", async () => {
  expect((await tried(inline())).fault).toBeUndefined();
  expect((await tried((_request, response) => response.writeHead(204).end())).fault).toBeUndefined();
  expect((await tried(vast(""))).fault).toBeUndefined();
});

test("the fault of a tag is named, and its error addresses are not called", async () => {
  const missing = await tried((_request, response) => response.writeHead(404).end());
  expect(missing.fault).toBe("status 404 (VAST error 301)");
  const page = await tried((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html></html>"),
  );
  expect(page.fault).toMatch(/VAST error 10\d/);
  const audio = await tried(
    inline({
      files:
        '<MediaFile type="audio/mpeg" width="0" height="0" delivery="progressive">https://a.test/a.mp3</MediaFile>',
    }),
  );
  expect(audio.fault).toMatch(/VAST error 403/);
  expect(audio.calls.map(({ path }) => path)).toEqual(["/tag"]);
});
