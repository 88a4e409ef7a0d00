import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { sendReports } from "./ad-service-client.ts";

const report = { token: "t", reports: [] };
const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.unstubAllGlobals();
});

/** What the page is answered by whatever stands at the service's address. */
async function answered(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  vi.stubGlobal("document", { querySelector: () => ({ content: `http://127.0.0.1:${port}` }) });
  return sendReports("7-x", report);
}

const json =
  (status: number, body: unknown): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

test.each([
  ["a gateway's JSON error without a code", json(404, { error: "no route" })],
  ["a gateway's JSON error in other words", json(403, { message: "forbidden" })],
  ["JSON that is no object", json(404, null)],
  ["a page to sign in to the network", json(200, { status: "login" })],
  ["an HTML page", (_request, response) => response.end("<html>")],
  ["a node that stops", json(503, { error: { code: "UNAVAILABLE", message: "…" } })],
] satisfies [string, RequestListener][])(
  "%s is no decision of the service: the call is repeated",
  async (_name, by) => {
    expect(await answered(by)).toEqual({ outcome: "unreachable", retryAfterMs: 0 });
  },
);

test("a refusal of the service is one", async () => {
  const refused = json(409, { error: { code: "SUPERSEDED", message: "…", request_id: "r" } });
  expect(await answered(refused)).toEqual({ outcome: "refused", code: "SUPERSEDED", requestId: null });
});

test("an answer of the service is one", async () => {
  const body = { state: "playing", accepted_ms: 0, acknowledged: [], refused: [], server_time: "2026-03-01T12:00:00Z" };
  expect(await answered(json(200, body))).toEqual({ outcome: "answered", body });
});
