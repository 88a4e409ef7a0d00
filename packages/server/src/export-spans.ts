import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { context, type DiagLogger, DiagLogLevel, diag, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "./logger.ts";
import type { TracingSettings } from "./tracing-settings.ts";

export interface SpanExport {
  /** Sends the spans that are left, for at most two seconds. */
  stop(): Promise<void>;
}

/** A collector that does not answer must not hold up a stop. */
const MAX_STOP_MS = 2000;
/** A grouped commit links to so many requests. */
const MAX_LINKS = 512;
const WARN_EVERY_MS = 60_000;

/** Registers OpenTelemetry's SDK for this process. Only `tracing.ts` loads this module, since it takes memory and time. */
export function startExporting(
  { endpoint, headers, sampledShare }: TracingSettings,
  { name, version, logger }: { readonly name: string; readonly version: string; readonly logger: Logger },
): SpanExport {
  diag.setLogger(warnRarely(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: { ...headers } });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.namespace": "intermission",
      "service.name": `intermission-${name}`,
      "service.version": version,
      "service.instance.id": `${hostname()}:${process.pid}`,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampledShare) }),
    spanLimits: { linkCountLimit: MAX_LINKS },
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000, maxQueueSize: 8192 })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    async stop() {
      await Promise.race([provider.shutdown().catch(() => {}), wait(MAX_STOP_MS, undefined, { ref: false })]);
      trace.disable();
      propagation.disable();
      context.disable();
      diag.disable();
    },
  };
}

/** Spans that cannot be sent are lost, and a line a minute says so. */
function warnRarely(logger: Logger): DiagLogger {
  let quietUntil = 0;
  const warn = (message: string) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + WARN_EVERY_MS;
    logger.warn(
      { reason: message.slice(0, 500) },
      "spans are lost: look at OTEL_EXPORTER_OTLP_ENDPOINT and the collector",
    );
  };
  const ignore = () => {};
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}
