import { Pool } from "undici";

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
}

export interface LoadRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** One path under load. */
export interface LoadPath {
  readonly origin: string;
  /** Of each of its answers. */
  readonly status: number;
  requestOf(index: number): LoadRequest;
}

/** Sends `count` different requests over 64 connections, one at a time on each, and fails on the first unexpected status. */
export async function load(
  { origin, status, requestOf }: LoadPath,
  count: number,
  connections = 64,
): Promise<LoadResult> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const latencies = new Float64Array(count);
  let next = 0;
  const startedAt = performance.now();
  const connection = async () => {
    while (next < count) {
      const index = next++;
      const sentAt = performance.now();
      const { statusCode, body } = await pool.request(requestOf(index));
      const text = await body.text();
      latencies[index] = performance.now() - sentAt;
      if (statusCode !== status)
        throw new Error(`${requestOf(index).path} answered ${statusCode}: ${text.slice(0, 300)}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, connection));
  } finally {
    await pool.close();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort();
  const quantile = (share: number) => latencies[Math.min(count - 1, Math.floor(count * share))] ?? Number.NaN;
  return { perSecond: count / seconds, p50Milliseconds: quantile(0.5), p99Milliseconds: quantile(0.99) };
}

export function median(results: readonly LoadResult[]): LoadResult {
  const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  return {
    perSecond: middle(results.map((result) => result.perSecond)),
    p50Milliseconds: middle(results.map((result) => result.p50Milliseconds)),
    p99Milliseconds: middle(results.map((result) => result.p99Milliseconds)),
  };
}
