import { z } from "zod";
import { webAddress } from "./settings.ts";

export interface TracingSettings {
  /** Of a collector, or whatever else accepts OTLP over HTTP; `/v1/traces` is added. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the traces that begin here, from 0 to 1. */
  readonly sampledShare: number;
}

const headersForm = "must be headers such as api-key=secret,x-tenant=ads, with % and two digits for other characters";
const shareForm = "must be a number from 0 to 1, such as 0.05";

/** The variables of OpenTelemetry that the servers read. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress("must be an address such as http://127.0.0.1:4318")
    .optional()
    .describe("the address of a collector that accepts OTLP over HTTP; [traces](operate.md#traces) go there"),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform(parseHeaders)
    .refine((headers) => headers !== undefined, headersForm)
    .optional()
    .describe("headers for the collector, such as `api-key=secret`"),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0|1|0?\.\d{1,9}|1\.0+)$/, shareForm)
    .transform(Number)
    .default(1)
    .describe("the share of taps and other requests that are traced, from 0 to 1"),
};

function parseHeaders(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split(",").map((pair) => /^\s*([\w!#$&'*+.^`|~-]+)\s*=([^=]*)$/.exec(pair));
  try {
    return Object.fromEntries(
      pairs.map((pair) => {
        if (pair === null) throw new Error("no header");
        return [pair[1], decodeURIComponent(pair[2]?.trim() ?? "")];
      }),
    );
  } catch {
    return undefined;
  }
}

/** Undefined: nothing is traced. */
export function tracingOf(read: z.output<z.ZodObject<typeof tracingVariables>>): TracingSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = read;
  if (endpoint === undefined) return undefined;
  return { endpoint, headers: read.OTEL_EXPORTER_OTLP_HEADERS ?? {}, sampledShare: read.OTEL_TRACES_SAMPLER_ARG };
}
