import type { ProgressReport, ReportRequest, ReportResponse } from "@intermission/ad-core/player-api";
import type { Answer } from "../ad-service-client.ts";

export type Call = Omit<ReportRequest, "token">;

export interface ReportQueueOptions {
  send(call: Call): Promise<Answer<ReportResponse>>;
  /** For a page that is going away; nobody hears the answer. */
  beacon(call: Call): boolean;
  onAnswer(response: ReportResponse): void;
  /** The service takes nothing more from this opening: `SUPERSEDED`, `SESSION_OVER`, `SESSION_UNKNOWN`, `LIMIT_REACHED`. */
  onRefused(code: string): void;
  onConnection(isReachable: boolean): void;
}

const HEARTBEAT_MS = 5000;
/** The most that one call may carry; about 30 kB, which a beacon takes too. */
const MOST_REPORTS = 300;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8000;
/** A call may hang: what comes meanwhile waits no longer than this for its answer. */
const PATIENCE_MS = 2000;

/**
 * Keeps what was played until the service has acknowledged it: lost answers, restarts of the server and tunnels cost
 * time, never progress. Reports are a set, so sending one again is harmless. Each call carries all that is not
 * acknowledged, so nothing depends on an older one.
 */
export class ReportQueue {
  private readonly options: ReportQueueOptions;
  private readonly unacknowledged = new Map<number, ProgressReport>();
  private hasStarted = false;
  private isStartKnown = false;
  private isClosing = false;
  private isOver = false;
  /** Numbers of calls: the newest one, and the newest that was answered or failed. */
  private sent = 0;
  private heard = 0;
  /** There is something that the newest call does not carry. */
  private hasNews = false;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ReportQueueOptions) {
    this.options = options;
  }

  get isSettled(): boolean {
    return this.unacknowledged.size === 0 && !this.isUnderWay;
  }

  /** Playback began. Goes with each call until the service knows, since it counts nothing before. */
  start(): void {
    this.hasStarted = true;
    this.tell();
  }

  add(reports: readonly ProgressReport[]): void {
    if (reports.length === 0) return;
    for (const report of reports) this.unacknowledged.set(report.sequence, report);
    this.tell();
  }

  /** At once, even while another call is under way, since that one may hang; unless it carries as much. */
  flush(): void {
    this.failures = 0;
    if (this.isUnderWay && !this.hasNews) this.sendIn(PATIENCE_MS);
    else this.send();
  }

  /** The user leaves the ad. Carried by each call until the service answered one. */
  close(): void {
    this.hasNews ||= !this.isClosing;
    this.isClosing = true;
    this.flush();
  }

  /** The page may be gone in a moment. What went by beacon stays here, should the page live on. */
  leave(closed?: "page-hidden"): void {
    const isWorthACall = this.unacknowledged.size > 0 || closed || this.isClosing;
    if (this.isOver || !this.hasStarted || !isWorthACall) return;
    this.options.beacon({ ...this.call(), ...(closed && !this.isClosing && { closed }) });
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private call(): Call {
    return {
      reports: [...this.unacknowledged.values()].slice(0, MOST_REPORTS),
      ...(!this.isStartKnown && { started: true }),
      ...(this.isClosing && { closed: "tap" as const }),
    };
  }

  private get isUnderWay(): boolean {
    return this.heard < this.sent;
  }

  /** At once, unless a call is under way or about to be repeated. */
  private tell(): void {
    this.hasNews = true;
    if (this.failures > 0) return;
    if (this.isUnderWay) this.sendIn(PATIENCE_MS);
    else this.send();
  }

  private async send(): Promise<void> {
    if (this.isOver || !this.hasStarted) return;
    clearTimeout(this.timer);
    const call = this.call();
    const number = ++this.sent;
    this.hasNews = false;
    const answer = await this.options.send(call);
    // What a newer call was answered holds, also what that one acknowledged.
    if (this.isOver || number < this.heard) return;
    this.heard = number;
    if (answer.outcome === "answered") this.settle(call, answer.body);
    else if (answer.outcome === "refused") {
      this.stop();
      this.options.onRefused(answer.code);
    } else if (!this.isUnderWay) this.retryLater(answer.retryAfterMs);
  }

  private settle(call: Call, response: ReportResponse): void {
    for (const sequence of response.acknowledged) this.unacknowledged.delete(sequence);
    if (call.started) this.isStartKnown = true;
    this.failures = 0;
    this.options.onConnection(true);
    this.options.onAnswer(response);
    if (response.state === "rewarded") this.stop();
    if (this.isOver || this.isUnderWay) return;
    clearTimeout(this.timer);
    if (response.too_early) this.sendIn(response.too_early.retry_after_ms);
    else if (this.unacknowledged.size > 0) this.send();
    else if (response.state === "watched") this.sendIn(HEARTBEAT_MS);
  }

  private retryLater(atLeastMs: number): void {
    this.options.onConnection(false);
    const backoffMs = Math.min(FIRST_RETRY_MS * 2 ** this.failures, LONGEST_RETRY_MS);
    this.failures++;
    this.sendIn(Math.max(backoffMs, atLeastMs));
  }

  private sendIn(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), milliseconds);
  }
}
