import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { trace } from "@opentelemetry/api";
import { pino } from "pino";
import { expect, test } from "vitest";
import { z } from "zod";
import { readSettings } from "./settings.ts";
import { startTracing } from "./tracing.ts";
import { tracingOf, tracingVariables } from "./tracing-settings.ts";

const read = (environment: NodeJS.ProcessEnv) => tracingOf(readSettings(z.object(tracingVariables), environment));

test("nothing is traced without an endpoint; with one, everything to it, with the headers", () => {
  expect(read({ OTEL_TRACES_SAMPLER_ARG: "0.5", OTEL_EXPORTER_OTLP_HEADERS: "a=b" })).toBeUndefined();
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/" })).toEqual({
    endpoint: "http://127.0.0.1:4318",
    headers: {},
    sampledShare: 1,
  });
  const headers = "api-key=secret%2C1, x-tenant = ads";
  expect(
    read({
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example.com",
      OTEL_EXPORTER_OTLP_HEADERS: headers,
      OTEL_TRACES_SAMPLER_ARG: ".05",
    }),
  ).toMatchObject({ headers: { "api-key": "secret,1", "x-tenant": "ads" }, sampledShare: 0.05 });
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be an address such as http://127.0.0.1:4318"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "secret-without-name", "must be headers such as api-key=secret"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=%zz", "must be headers such as api-key=secret"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5", "must be a number from 0 to 1"],
  ["OTEL_TRACES_SAMPLER_ARG", "5%", "must be a number from 0 to 1"],
])("%s=%s is refused with its form, and not repeated", (name, value, form) => {
  const readIt = () => read({ [name]: value });
  expect(readIt).toThrow(`${name} ${form}`);
  expect(readIt).not.toThrow(value);
});

/** Whether a process that starts tracing with these settings loads OpenTelemetry's SDK. */
function loadsSdk(settings: string): string {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { startTracing } = await import(${JSON.stringify(new URL("./tracing.ts", import.meta.url).href)});
    const { stop } = await startTracing(${settings}, { name: "test", version: "0", logger: undefined });
    await stop();
    console.log(loaded.some((url) => /@opentelemetry.(sdk|exporter|otlp)/.test(url)));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  return stdout.trim() || stderr;
}

test("OpenTelemetry's SDK is loaded only where something is traced", () => {
  expect(loadsSdk("undefined")).toBe("false");
  expect(loadsSdk('{ endpoint: "http://127.0.0.1:9", headers: {}, sampledShare: 1 }')).toBe("true");
});

/** Tracing to a collector, and the lines that it logs. */
async function traceTo(endpoint: string) {
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => lines.push(line) });
  const settings = { endpoint, headers: { "api-key": "secret-of-collector" }, sampledShare: 1 };
  const { stop } = await startTracing(settings, { name: "test", version: "0", logger });
  const startSpan = () => trace.getTracer("test").startSpan("lost").end();
  return { lines, stop, startSpan };
}

test("a collector that refuses spans costs one line a minute, which has its answer and not our headers", {
  tags: "long",
}, async () => {
  let requests = 0;
  const collector = createServer((request, response) => {
    requests += 1;
    request.resume().on("end", () => response.writeHead(403).end("no such key"));
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const { lines, stop, startSpan } = await traceTo(`http://127.0.0.1:${(collector.address() as AddressInfo).port}`);
  for (let refused = 1; refused <= 2; refused++) {
    startSpan();
    await expect.poll(() => requests, { timeout: 60_000 }).toBe(refused);
  }
  await stop();
  collector.close();
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    msg: "spans are lost: look at OTEL_EXPORTER_OTLP_ENDPOINT and the collector",
    reason: expect.stringMatching(/403|Forbidden/),
  });
  expect(lines[0]).not.toContain("secret-of-collector");
});

test("a collector that never answers holds up a stop for two seconds", { tags: "long" }, async () => {
  const collector = createServer(() => {}).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const { stop, startSpan } = await traceTo(`http://127.0.0.1:${(collector.address() as AddressInfo).port}`);
  startSpan();
  const startedAt = performance.now();
  await stop();
  // The exporter itself would wait for ten seconds.
  expect(performance.now() - startedAt).toBeLessThan(8000);
  collector.closeAllConnections();
  collector.close();
});
