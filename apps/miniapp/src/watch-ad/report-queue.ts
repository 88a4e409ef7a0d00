import type { ProgressReport, ReportRequest, ReportResponse } from "@intermission/ad-core/player-api";
import type { Answer } from "../ad-service-client.ts";
import { retryPauseMs } from "../retry-pause.ts";

export type Call = Omit<ReportRequest, "token">;

interface ReportQueueOptions {
  send(call: Call): Promise<Answer<ReportResponse>>;
  /** For a page that is being closed; the response is discarded. */
  beacon(call: Call): void;
  onAnswer(response: ReportResponse): void;
  /** The service accepts no more calls of this opening: `SUPERSEDED`, `SESSION_OVER`, `SESSION_UNKNOWN`, `LIMIT_REACHED`. */
  onRefused(code: string): void;
  onConnection(isReachable: boolean): void;
}

const HEARTBEAT_MS = 5000;
/** The maximum per call; about 30 kB, which also fits into a beacon. */
const MAX_REPORTS = 300;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 8000;
/** A call may hang: later reports wait no longer than this for its response. */
const PATIENCE_MS = 2000;

/**
 * Keeps reports until the service has acknowledged them: lost responses, server restarts and network outages cost time,
 * never progress. Reports are a set, so sending one again is harmless. Each call carries all unacknowledged reports, so no
 * call depends on an older one. While the video plays on, the service may leave reports unacknowledged until the next call.
 */
export class ReportQueue {
  private readonly options: ReportQueueOptions;
  private readonly unacknowledged = new Map<number, ProgressReport>();
  private hasStarted = false;
  private isStartKnown = false;
  private isClosing = false;
  private playing?: boolean;
  private isOver = false;
  /** Call numbers: the newest call, and the newest call that was answered or failed. */
  private sent = 0;
  private heard = 0;
  /** There is data that the newest call does not carry. */
  private hasNews = false;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ReportQueueOptions) {
    this.options = options;
  }

  get isSettled(): boolean {
    return this.unacknowledged.size === 0 && !this.isUnderWay;
  }

  /** Playback has started. Each call carries this until acknowledged, because the service counts nothing before the start. */
  start(): void {
    this.hasStarted = true;
    this.tell();
  }

  /** `playing`: the video plays on, so another call will follow. */
  add(reports: readonly ProgressReport[], playing: boolean): void {
    const hasStopped = this.playing && !playing;
    this.playing = playing;
    for (const report of reports) this.unacknowledged.set(report.sequence, report);
    if (reports.length > 0 || hasStopped) this.tell();
  }

  /** Sends immediately, even during another call, which may hang; unless that call already carries everything. */
  flush(): void {
    this.failures = 0;
    if (this.isUnderWay && !this.hasNews) this.sendIn(PATIENCE_MS);
    else this.send();
  }

  /** The user leaves the ad. Each call carries this until the service has answered one. */
  close(): void {
    this.hasNews ||= !this.isClosing;
    this.isClosing = true;
    this.flush();
  }

  /** The page may be closed soon. Reports sent by beacon stay in the queue, in case the page continues. */
  leave(closed?: "page-hidden"): void {
    const isWorthACall = this.unacknowledged.size > 0 || closed || this.isClosing;
    if (this.isOver || !this.hasStarted || !isWorthACall) return;
    this.options.beacon({ ...(closed && { closed }), ...this.call(), playing: false });
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private call(): Call {
    return {
      reports: [...this.unacknowledged.values()].slice(0, MAX_REPORTS),
      started: !this.isStartKnown,
      playing: this.playing,
      ...(this.isClosing && { closed: "tap" as const }),
    };
  }

  private get isUnderWay(): boolean {
    return this.heard < this.sent;
  }

  /** Sends immediately, unless a call is in progress or about to be retried. */
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
    // The response to a newer call takes precedence, including its acknowledgements.
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
    else if (this.unacknowledged.size > 0 && (this.hasNews || !call.playing)) this.send();
    else if (response.state === "watched") this.sendIn(HEARTBEAT_MS);
  }

  private retryLater(atLeastMs: number): void {
    this.options.onConnection(false);
    this.sendIn(retryPauseMs(this.failures++, FIRST_RETRY_MS, MAX_RETRY_MS, atLeastMs));
  }

  private sendIn(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), milliseconds);
  }
}
