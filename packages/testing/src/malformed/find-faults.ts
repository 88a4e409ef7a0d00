import { type ErrorForm, judgeAnswer } from "./judge-answer.ts";
import type { Sample } from "./malformed-request.ts";
import { type Exchange, sendMalformed } from "./send-malformed.ts";

export type { ErrorForm } from "./judge-answer.ts";
export type { Sample } from "./malformed-request.ts";
export type { Exchange } from "./send-malformed.ts";

interface ResilienceReport {
  /** The faults with their requests; at most a hundred. */
  readonly faults: string[];
  readonly statuses: Readonly<Record<string, number>>;
}

const MAX_FAULTS = 100;

/** Sends malformed requests and returns the server's faults; `written` are the lines of its log. For tests. */
export async function findFaults(options: {
  readonly address: string;
  readonly seed: number;
  readonly count: number;
  readonly samples: readonly Sample[];
  readonly formsAt: (target: string) => ErrorForm[];
  readonly written: readonly string[];
  readonly onExchange?: (exchange: Exchange) => void;
}): Promise<ResilienceReport> {
  const { address, seed, count, samples, formsAt, written, onExchange = () => {} } = options;
  const faults: string[] = [];
  const statuses: Record<string, number> = {};
  await sendMalformed({
    port: Number(new URL(address).port),
    seed,
    count,
    samples,
    onExchange(exchange) {
      const { index, request, answer } = exchange;
      const status = String(answer?.status ?? "none");
      statuses[status] = (statuses[status] ?? 0) + 1;
      const fault = judgeAnswer(exchange, formsAt);
      const shown = JSON.stringify(request.bytes.toString("latin1").slice(0, 600));
      if (fault !== undefined && faults.length < MAX_FAULTS) faults.push(`${index}: ${fault}, after ${shown}`);
      onExchange(exchange);
    },
  });
  for (const line of written) {
    const { level } = JSON.parse(line) as { level: number };
    const isTrouble = level >= 50 || /"stack"|\\n\s+at /.test(line);
    if (isTrouble && faults.length < MAX_FAULTS) faults.push(`in the log: ${line.slice(0, 1000)}`);
  }
  return { faults, statuses };
}
