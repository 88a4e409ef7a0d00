import { activeSpan, TRACER } from "@intermission/postgres/trace-commits";
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

/** The active span as the header `traceparent` (W3C Trace Context), to be stored; null outside of a recorded trace. */
export function currentTraceparent(): string | null {
  return activeSpan() === undefined ? null : (headersOfTrace(context.active()).traceparent ?? null);
}

function headersOfTrace(of: Context): { traceparent?: string } {
  const headers: { traceparent?: string } = {};
  propagation.inject(of, headers);
  return headers;
}

/** The context of a `traceparent`; the root context if it is malformed. `tracestate` and `baggage` are not read. */
export function contextOfTraceparent(traceparent: string): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent });
}

/**
 * Does work in a span of the trace that a stored `traceparent` is of. Without one the work is in no trace, whoever's request
 * started it.
 */
export function continueTrace<Result>(
  traceparent: string | null,
  span: { readonly name: string; readonly attributes: Attributes },
  work: () => Promise<Result>,
): Promise<Result> {
  if (traceparent === null) return context.with(ROOT_CONTEXT, work);
  const options = { kind: SpanKind.INTERNAL, attributes: span.attributes };
  return trace
    .getTracer(TRACER)
    .startActiveSpan(span.name, options, contextOfTraceparent(traceparent), (started) =>
      work().finally(() => started.end()),
    );
}

interface OutgoingCall {
  readonly method: string;
  /** Only host and port become attributes: paths and queries hold tokens, codes and ids. */
  readonly url: string;
  readonly attributes?: Attributes;
  /** Whether the other side continues the trace: it gets `traceparent`. */
  readonly isPropagated: boolean;
}

/** What a call came to: a status, or the class of the failure. */
export interface CallOutcome {
  readonly status?: number | undefined;
  readonly errorType?: string | undefined;
}

/** Makes an outgoing call in a span, inside of a trace; outside of one it only makes the call. `send` adds the headers. */
export function traceCall<Result>(
  call: OutgoingCall,
  send: (headers: { readonly traceparent?: string }) => Promise<Result>,
  outcomeOf: (result: Result) => CallOutcome,
): Promise<Result> {
  if (activeSpan() === undefined) return send({});
  const { method, url, isPropagated } = call;
  const attributes = { ...call.attributes, "http.request.method": method, ...addressOf(url) };
  return trace.getTracer(TRACER).startActiveSpan(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      const result = await send(isPropagated ? headersOfTrace(context.active()) : {});
      describeOutcome(span, outcomeOf(result));
      return result;
    } catch (error) {
      describeOutcome(span, { errorType: error instanceof Error ? error.name : "unknown" });
      throw error;
    } finally {
      span.end();
    }
  });
}

function addressOf(url: string): Attributes {
  const parsed = URL.parse(url);
  if (parsed === null) return {};
  const port = Number(parsed.port || (parsed.protocol === "https:" ? 443 : 80));
  return { "server.address": parsed.hostname, "server.port": port };
}

function describeOutcome(span: Span, { status, errorType }: CallOutcome): void {
  if (status !== undefined) span.setAttribute("http.response.status_code", status);
  const failure = errorType ?? (status !== undefined && status >= 400 ? String(status) : undefined);
  if (failure === undefined) return;
  span.setAttribute("error.type", failure);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
