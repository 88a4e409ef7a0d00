import { context, ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";

/** The name of our spans' source. */
export const TRACER = "intermission";

/** The span that the code runs in, if it is recorded. Without tracing this is one look-up of some 10 ns. */
export function activeSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** An item of a grouped commit, with the span of the request that waits for it. */
export interface TracedItem {
  readonly span: Span | undefined;
}

/**
 * Runs a grouped commit in one span. It belongs to the trace of the first request that waits for it, so that it is sampled
 * like that one; it links to the other requests, and their spans link to it. A commit that no traced request waits for has no
 * span, and is in no trace: without this it would be in that of the request whose commit ended before it.
 */
export function inCommitSpan<Result>(
  name: string,
  items: readonly TracedItem[],
  commit: () => Promise<Result>,
): Promise<Result> {
  const [first, ...others] = new Set(items.flatMap(({ span }) => span ?? []));
  if (first === undefined) return context.with(ROOT_CONTEXT, commit);
  const span = trace.getTracer(TRACER).startSpan(
    `commit ${name}`,
    {
      attributes: { "intermission.batch_size": items.length },
      links: others.map((other) => ({ context: other.spanContext() })),
    },
    trace.setSpan(ROOT_CONTEXT, first),
  );
  for (const other of others) other.addLink({ context: span.spanContext() });
  return context.with(trace.setSpan(ROOT_CONTEXT, span), commit).finally(() => span.end());
}
