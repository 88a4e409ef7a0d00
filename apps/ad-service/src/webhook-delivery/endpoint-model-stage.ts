type Outcome = "ok" | "error" | "busy" | "gone";

const PROBES = [30, 60, 120, 240, 300];
const DAY = 86_400;
/** The database's clock also runs while a test works; a probe comes up to a fifth late. */
const RUNNING_SECONDS = 5;
const LATENESS = 0.2;

/** What the design says of an endpoint, in the plainest words: for a test that follows the database and this side by side. */
export class EndpointModel {
  private now = 0;
  private state = "active";
  private reason: string | null = null;
  private breaker = "closed";
  private failuresInRow = 0;
  private restUntil = 0;
  private probeAt = 0;
  private probeLateness = 0;
  private probesFailed = 0;
  private probesOk = 0;
  private window = { since: Number.NEGATIVE_INFINITY, attempts: 0, failures: 0 };
  private lastSuccess = 0;
  private failingSince: number | null = null;
  private failures = 0;
  private goneSince: number | null = null;
  private goneBatches = 0;
  private warned = 0;

  wait(seconds: number): void {
    this.now += seconds;
  }

  /** Seconds until neither chance nor the running clock decides what the next deliveries do; 0: now. */
  secondsUntilPlain(): number {
    const failingSince = this.failingSince ?? Number.NEGATIVE_INFINITY;
    const marks = [0.5, 0.7, 0.9, 1];
    const edges = [
      { from: this.probeAt, to: this.probeAt + this.probeLateness },
      ...[
        this.restUntil,
        this.window.since + 300,
        (this.goneSince ?? Number.NEGATIVE_INFINITY) + 3600,
        ...marks.map((mark) => this.lastSuccess + mark * 5 * DAY),
        ...marks.map((mark) => failingSince + (mark * DAY) / 2),
      ].map((at) => ({ from: at, to: at })),
    ];
    let plain = this.now;
    for (const { from, to } of edges.toSorted((one, other) => one.from - other.from)) {
      if (plain >= from - RUNNING_SECONDS && plain <= to) plain = Math.ceil(to) + 1;
    }
    return plain - this.now;
  }

  /** How many of the deliveries may be sent now; they end as told. */
  send(outcomes: Outcome[]): number {
    if (this.state !== "active" || this.now < this.restUntil) return 0;
    if (this.breaker !== "closed" && this.now < this.probeAt) return 0;
    const sent = outcomes.slice(0, this.breaker === "closed" ? 4 : 1);
    if (this.breaker === "open") this.breaker = "half-open";
    this.learn(sent);
    return sent.length;
  }

  seen() {
    const { state, reason, breaker, failuresInRow, warned } = this;
    return { state, reason, breaker, failuresInRow, inFlight: 0, warnedPercent: warned };
  }

  private learn(sent: Outcome[]): void {
    const successes = sent.filter((outcome) => outcome === "ok").length;
    const failures = sent.length - successes;
    this.failuresInRow = successes > 0 ? 0 : this.failuresInRow + failures;
    if (this.now - this.window.since > 300) this.window = { since: this.now, attempts: 0, failures: 0 };
    this.window.attempts += sent.length;
    this.window.failures += failures;
    for (const outcome of sent) {
      const rest = { ok: 0, error: 0, busy: 60, gone: 600 }[outcome];
      if (rest > 0) this.restUntil = Math.max(this.restUntil, this.now + rest);
    }
    this.learnGone(sent);
    if (successes > 0) this.recover();
    if (failures > 0) this.failingSince = successes > 0 ? null : (this.failingSince ?? this.now);
    this.failures = successes > 0 ? 0 : this.failures + failures;
    this.moveBreaker(successes, failures);
    if (failures > 0) this.judge();
    else this.warned = 0;
  }

  private learnGone(sent: Outcome[]): void {
    if (sent.some((outcome) => outcome !== "gone")) {
      this.goneSince = null;
      this.goneBatches = 0;
      return;
    }
    this.goneSince ??= this.now;
    // Each delivery here is another event.
    this.goneBatches += sent.length;
  }

  private recover(): void {
    this.lastSuccess = this.now;
    this.failingSince = null;
  }

  private moveBreaker(successes: number, failures: number): void {
    const { attempts, failures: failed } = this.window;
    const isBad = this.failuresInRow >= 10 || (attempts >= 10 && failed >= 0.7 * attempts);
    if (this.breaker === "closed") this.probesOk = 0;
    else this.probesOk += successes;
    if (failures > 0 && (this.breaker === "half-open" || (this.breaker === "closed" && isBad))) {
      this.breaker = "open";
      const delay = PROBES[Math.min(this.probesFailed, 4)] ?? 0;
      this.probeAt = this.now + delay;
      this.probeLateness = LATENESS * delay;
      this.probesFailed += 1;
      this.probesOk = 0;
    } else if (this.breaker !== "closed" && this.probesOk >= 3) {
      this.breaker = "closed";
      this.probesFailed = 0;
      this.probesOk = 0;
      this.window = { ...this.window, attempts: 0, failures: 0 };
    }
  }

  private judge(): void {
    const progress = Math.min(
      1,
      (this.now - this.lastSuccess) / (5 * DAY),
      this.failures / 20,
      this.failingSince === null ? 0 : (this.now - this.failingSince) / (DAY / 2),
    );
    this.warned = [100, 90, 70, 50].find((mark) => progress >= mark / 100) ?? 0;
    if (this.goneSince !== null && this.goneBatches >= 2 && this.now - this.goneSince >= 3600) this.disable("gone");
    else if (progress >= 1) this.disable("failing");
  }

  private disable(reason: string): void {
    this.state = "disabled";
    this.reason = reason;
  }
}
