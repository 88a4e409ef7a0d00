import type { SpanExport } from "./export-spans.ts";
import type { Logger } from "./logger.ts";
import type { TracingSettings } from "./tracing-settings.ts";

/** Starts to record and send spans, if there are settings for it. Without them no part of OpenTelemetry's SDK is loaded. */
export async function startTracing(
  settings: TracingSettings | undefined,
  service: { readonly name: string; readonly version: string; readonly logger: Logger },
): Promise<SpanExport> {
  if (settings === undefined) return { stop: async () => {} };
  const { startExporting } = await import("./export-spans.ts");
  return startExporting(settings, service);
}
