import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { groupCommits } from "./group-commits.ts";
import { activeSpan, TRACER } from "./trace-commits.ts";

const exporter = new InMemorySpanExporter();

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
});
beforeEach(() => exporter.reset());
afterAll(() => {
  trace.disable();
  context.disable();
});

/** A request that waits for a commit. */
const request = <Result>(name: string, wait: () => Promise<Result>) =>
  trace.getTracer(TRACER).startActiveSpan(name, (span) => wait().finally(() => span.end()));

const spanOf = (name: string) => {
  const found = exporter.getFinishedSpans().filter((span) => span.name === name);
  expect(found, name).toHaveLength(1);
  // biome-ignore lint/style/noNonNullAssertion: one was found.
  return found[0]!;
};

test("a grouped commit is one span of its first request's trace, with links to the others, whose spans link to it", async () => {
  const batches: number[][] = [];
  const group = groupCommits<number, number>({
    name: "items",
    async run(batch) {
      batches.push([...batch]);
      await request(`statement ${batches.length}`, async () => {});
      return [...batch];
    },
  });
  await Promise.all([1, 2, 3].map((item) => request(`request ${item}`, () => group.submit(item))));
  expect(batches).toEqual([[1, 2, 3]]);
  const [first, second, third] = ["request 1", "request 2", "request 3"].map(spanOf);
  const commit = spanOf("commit items");
  expect(commit.parentSpanContext?.spanId).toBe(first?.spanContext().spanId);
  expect(commit.attributes).toEqual({ "intermission.batch_size": 3 });
  expect(commit.links.map(({ context: { spanId } }) => spanId)).toEqual(
    [second, third].map((span) => span?.spanContext().spanId),
  );
  for (const other of [second, third])
    expect(other?.links.map(({ context: { spanId } }) => spanId)).toEqual([commit.spanContext().spanId]);
  expect(first?.links).toEqual([]);
  expect(spanOf("statement 1").parentSpanContext?.spanId).toBe(commit.spanContext().spanId);
});

test("a commit that no traced request waits for is in no trace, although a traced request's commit ended before it", async () => {
  const spans: boolean[] = [];
  const group = groupCommits<string, string>({
    name: "items",
    async run(batch) {
      spans.push(activeSpan() !== undefined);
      await new Promise((resolve) => setImmediate(resolve));
      return [...batch];
    },
    maxInFlight: 1,
  });
  const traced = request("request", () => group.submit("traced"));
  while (spans.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const untraced = group.submit("untraced");
  await Promise.all([traced, untraced]);
  expect(spans).toEqual([true, false]);
});
