import { expect, onTestFinished, test } from "vitest";
import { startAdServer } from "../../test/fixtures/ad-server-fixture.ts";
import { type Answer, inline, vast, wrapper } from "../../test/fixtures/sample-ad-server.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import { openTurns } from "./read-xml.ts";
import { faultOfTag, tryTag } from "./try-tag.ts";

async function openTrial(answers: Record<string, Answer>) {
  const server = await startAdServer(answers);
  const requests = openGuardedRequests({
    isPlainHttpAllowed: true,
    allowedNetworks: { vast: ["127.0.0.1"], webhook: [] },
  });
  onTestFinished(() => requests.close());
  const request = { url: `${server.address}/tag`, now: () => new Date() };
  return { deps: { requests, isPlainHttpAllowed: true, turns: openTurns() }, request, ...server };
}

async function tried(answer: Answer) {
  const { deps, request, calls } = await openTrial({ "/tag": answer });
  return { fault: await faultOfTag(deps, request), calls };
}

test("a tag with an ad, or without one at the moment, has no fault", async () => {
  expect((await tried(inline())).fault).toBeNull();
  expect((await tried((_request, response) => response.writeHead(204).end())).fault).toBeNull();
  expect((await tried(vast(""))).fault).toBeNull();
});

test("the fault of a tag is named, and its error addresses are not called", async () => {
  const missing = await tried((_request, response) => response.writeHead(404).end());
  expect(missing.fault).toEqual({ code: 301, reason: { kind: "status", status: 404 } });
  const page = await tried((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html></html>"),
  );
  expect(page.fault).toEqual({ code: 101, reason: { kind: "other-root", root: "html" } });
  const audio = await tried(
    inline({
      files:
        '<MediaFile type="audio/mpeg" width="0" height="0" delivery="progressive">https://a.test/a.mp3</MediaFile>',
    }),
  );
  expect(audio.fault).toEqual({ code: 403, reason: { kind: "no-playable-file" } });
  expect(audio.calls.map(({ path }) => path)).toEqual(["/tag"]);
});

test("a trial names each request on the way to the ad, and the media; no tracker is called", async () => {
  const redirect: Answer = (_request, response) => response.writeHead(302, { location: "/wrapper" }).end();
  const { deps, request, address, calls } = await openTrial({
    "/tag": redirect,
    "/wrapper": wrapper("{self}/inline"),
    "/inline": inline(),
  });
  const trial = await tryTag(deps, request);
  expect(trial.steps).toMatchObject([
    { outcome: "redirect", url: `${address}/tag`, location: `${address}/wrapper` },
    { outcome: "document", url: `${address}/wrapper`, ads: [{ wraps: `${address}/inline` }] },
    { outcome: "document", url: `${address}/inline`, ads: [{ wraps: null, title: "Inline linear ad" }] },
  ]);
  expect(trial).toMatchObject({ fault: null, ad: { mediaUrl: `${address}/ad.mp4`, durationMs: 10_000 } });
  expect(calls.map(({ path }) => path)).toEqual(["/tag", "/wrapper", "/inline"]);
});

test("a trial names the request that failed, with its VAST error code", async () => {
  const missing: Answer = (_request, response) => response.writeHead(404).end();
  const { deps, request, address } = await openTrial({ "/tag": wrapper("{self}/gone"), "/gone": missing });
  const { steps, ad, fault } = await tryTag(deps, request);
  const notFound = { kind: "status", status: 404 };
  expect(steps[1]).toMatchObject({ outcome: "fault", url: `${address}/gone`, code: 301, reason: notFound });
  expect({ ad, fault }).toEqual({ ad: null, fault: { code: 301, reason: notFound } });
});
