import { rmSync } from "node:fs";
import { join } from "node:path";
import { startDemoStack } from "../../scripts/demo-stack.ts";
import { freePort, root } from "../../scripts/processes.ts";
import { companionApi } from "../kill/companion-api.ts";
import { addressOf, visitHeaders } from "../kill/earn-events.ts";
import { type ReceivedSpan, startOtlpReceiver } from "../otlp-receiver.ts";
import { initDataOf, playedRanges, ScriptedViewer } from "../scripted-viewer.ts";
import { expect, newDataDirectory, test } from "../stack.ts";

const forwardedTrace = "0af7651916cd43dd8448eb211c80319c";

test("one trace goes from the tap to the ledger entry, for links and views, and spans hold no code, token or launch data", async () => {
  test.setTimeout(420_000);
  const receiver = await startOtlpReceiver();
  const dataDirectory = await newDataDirectory();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=ads" };
  const stack = await startDemoStack({
    dataDirectory,
    ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
    video: join(root, "e2e/fixtures/clip-2s.mp4"),
    hasChat: false,
    cooldownSeconds: 0,
    dailyCap: 100,
    env: { "ad-service": { ...env, TRUST_PROXY: "127.0.0.1" }, api: env },
  });
  const secrets: string[] = Object.values(stack.secrets).filter(
    (one) => typeof one === "string" && one.length > 15 && !one.startsWith("http"),
  );
  try {
    const api = companionApi(stack.urls.api, stack.secrets.backendApiKey);
    const newCode = async (userId: string) => {
      const created = await api.createCode(userId, userId);
      if (created.outcome !== "created") throw new Error(created.outcome);
      secrets.push(created.code);
      return created.code;
    };

    await test.step("links", async () => {
      // At the same time, so that some of them share commits.
      const codes = await Promise.all(Array.from({ length: 12 }, (_, index) => newCode(String(7000 + index))));
      const answers = await Promise.all(
        codes.map((code, index) =>
          fetch(`${stack.urls.adService}/${code}`, {
            redirect: "manual",
            headers: {
              ...visitHeaders(addressOf(index)),
              traceparent: `00-${forwardedTrace}-b7ad6b7169203331-01`,
            },
          }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(302));
      const isOfLink = ({ service, name }: ReceivedSpan) =>
        service === "intermission-ad-service" && name === "GET /:code";
      await expect.poll(() => receiver.spans.filter(isOfLink).length, { timeout: 60_000 }).toBe(12);
      for (const tap of receiver.spans.filter(isOfLink)) {
        // The visitor's own trace is linked, and not continued.
        expect(tap.parentId).toBe("");
        expect(tap.links[0]?.traceId).toBe(forwardedTrace);
        await expectWholeTrace(receiver.spans, tap, "commit clicks");
      }
      expect(receiver.spans.some(({ traceId }) => traceId === forwardedTrace)).toBe(false);
    });

    await test.step("a view", async () => {
      const userId = "7100";
      const initData = initDataOf(userId, stack.secrets);
      secrets.push(initData, ...initData.split("&").filter((part) => part.startsWith("hash=")));
      const viewer = new ScriptedViewer(stack.urls.adService);
      const { body } = await viewer.open(stack.secrets.botId, initData, await newCode(userId));
      if (body.outcome !== "session") throw new Error(JSON.stringify(body));
      const { session_id: id, token, ad } = body;
      secrets.push(token);
      await viewer.report(id, { token, reports: [], started: true });
      await new Promise((resolve) => setTimeout(resolve, ad.duration_ms));
      const reports = playedRanges(ad.duration_ms, 0, body.first_sequence);
      const ended = await viewer.report(id, { token, reports, closed: "tap" });
      expect(ended).toMatchObject({ status: 200, body: { state: "rewarded" } });
      const ends = () =>
        receiver.spans.filter(({ spanId, traceId }) =>
          receiver.spans.some(
            (other) => other.name === "deliver webhook" && other.traceId === traceId && other.parentId === spanId,
          ),
        );
      const ofView = () => ends().filter(({ name }) => name.startsWith("POST /player/v1/sessions/"));
      await expect.poll(() => ofView().length, { timeout: 60_000 }).toBe(1);
      for (const tap of ofView()) await expectWholeTrace(receiver.spans, tap, "commit changes of views");
    });

    await test.step("a webhook that is sent again", async () => {
      const code = await newCode("7200");
      await stack.servers.get("api")?.stop();
      const before = new Set(receiver.spans);
      const headers = visitHeaders(addressOf(200));
      const answer = await fetch(`${stack.urls.adService}/${code}`, { redirect: "manual", headers });
      expect(answer.status).toBe(302);
      const attempts = () => receiver.spans.filter((span) => !before.has(span) && span.name === "deliver webhook");
      await expect.poll(() => attempts().length, { timeout: 60_000 }).toBeGreaterThan(0);
      await stack.start("api");
      const isOfLink = (span: ReceivedSpan) => !before.has(span) && span.name === "GET /:code";
      await expect.poll(() => receiver.spans.filter(isOfLink).length, { timeout: 60_000 }).toBe(1);
      for (const tap of receiver.spans.filter(isOfLink)) {
        await expectWholeTrace(receiver.spans, tap, "commit clicks");
        const numbers = attempts().map(({ attributes }) => attributes["intermission.attempt"]);
        expect(Math.max(...numbers.map(Number))).toBeGreaterThan(1);
      }
    });

    await stack.stop();
    const sent = receiver.bytes();
    expect(sent.includes("GET /:code")).toBe(true);
    expect(secrets.length).toBeGreaterThan(20);
    for (const secret of secrets) expect(sent.includes(secret), secret.slice(0, 6)).toBe(false);
  } finally {
    await stack.stop();
    await receiver.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

/** From the request to the ledger: each step in the trace, each span below another one of it, or the first. */
async function expectWholeTrace(spans: readonly ReceivedSpan[], tap: ReceivedSpan, commit: string): Promise<void> {
  const path = [
    ["intermission-ad-service", tap.name],
    ["intermission-ad-service", "deliver webhook"],
    ["intermission-ad-service", "POST"],
    ["intermission-api", "POST /webhooks/ads"],
  ] as const;
  const ofTrace = () => spans.filter(({ traceId }) => traceId === tap.traceId);
  // Of several attempts to deliver, the one that arrived.
  const longest = (found: readonly ReceivedSpan[]): readonly ReceivedSpan[] => {
    const [service, name] = path[found.length] ?? [];
    const next = ofTrace().filter(
      (span) => span.service === service && span.name === name && span.parentId === found.at(-1)?.spanId,
    );
    return next
      .map((span) => longest([...found, span]))
      .reduce((one, other) => (other.length > one.length ? other : one), found);
  };
  const steps = () => longest([tap]);
  await expect.poll(() => steps().map(({ service, name }) => [service, name]), { timeout: 60_000 }).toEqual(path);
  const webhook = steps().at(-1);
  // A commit is below the first request that waited for it, and linked to the others.
  const commitOf = (span: ReceivedSpan | undefined, name: string) =>
    spans.find(
      (one) =>
        one.name === name && (one.parentId === span?.spanId || one.links.some(({ spanId }) => spanId === span?.spanId)),
    );
  for (const [span, name, statement] of [
    [tap, commit, commit === "commit clicks" ? "clicks.record" : "views.record"],
    [webhook, "commit events", "ledger.record"],
  ] as const) {
    await expect
      .poll(
        () => {
          const found = commitOf(span, name);
          const isLinked = span?.links.some(({ spanId }) => spanId === found?.spanId);
          const statements = spans.filter(({ parentId }) => parentId === found?.spanId).map((one) => one.name);
          return found !== undefined && (found.parentId === span?.spanId || isLinked) && statements.includes(statement);
        },
        { message: `${tap.name}: ${name} with ${statement}`, timeout: 60_000 },
      )
      .toBe(true);
  }
  // Each span is below another one of the trace, but the tap, which is the first.
  const withoutParent = () => {
    const ids = new Set(ofTrace().map(({ spanId }) => spanId));
    return ofTrace().filter(({ parentId }) => !ids.has(parentId));
  };
  await expect.poll(() => withoutParent().map(({ name }) => name), { timeout: 60_000 }).toEqual([tap.name]);
}
