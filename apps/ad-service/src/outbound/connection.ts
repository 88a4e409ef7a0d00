import net from "node:net";
import tls from "node:tls";
import { type buildConnector, Client } from "undici";
import { isSameAddress } from "./address-guard.ts";
import { OutgoingFailure, type Timings } from "./outgoing-request.ts";

/** Of all heads of an exchange: status lines, headers, those of interim answers. */
const MAX_HEAD_BYTES = 16 * 1024;
const PROBE_IDLE_MS = 60_000;
/** A new connection waits so long for bytes that a server sends before any request, which make the connection unusable. */
const EARLY_ANSWER_MS = 3;

/** One address of one origin. A TLS session is kept for this destination only. */
interface Destination {
  readonly origin: string;
  readonly isSecure: boolean;
  /** The host name, or the literal address without its brackets. */
  readonly host: string;
  readonly port: number;
  readonly address: string;
  session?: Buffer;
}

type Phases = Pick<Timings, "tcpMs" | "tlsMs">;

const NO_PHASES: Phases = { tcpMs: null, tlsMs: null };

/** An HTTP/1.1 connection to exactly one address: opened on first use, and again after the other side closed it. */
export class Connection {
  readonly client: Client;
  /** When its last exchange ended. */
  usedAt = 0;
  readonly #destination: Destination;
  #socket: net.Socket | undefined;
  #startedAt = 0;
  #phases: Phases | undefined;
  readonly #heads = new AnswerHeadCheck();
  /** Requests sent on the current socket. */
  #requests = 0;

  constructor(destination: Destination) {
    this.#destination = destination;
    this.client = new Client(destination.origin, {
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_HEAD_BYTES,
      // One deadline covers the whole exchange: these two would miss a trickled body or endless interim answers.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => this.#open(callback),
    });
  }

  /** How long opening took; returned once, to the exchange that opened it. A phase that is not over counts until now. */
  takePhases(): Phases {
    const phases = this.#phases;
    if (phases === undefined) return NO_PHASES;
    this.#phases = undefined;
    const sinceStartMs = performance.now() - this.#startedAt;
    if (phases.tcpMs === null) phases.tcpMs = sinceStartMs;
    else if (this.#destination.isSecure) phases.tlsMs ??= sinceStartMs - phases.tcpMs;
    return phases;
  }

  /** Over all exchanges on the current socket, TLS included. */
  bytesRead(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  /** Call before a request is written on the current socket. */
  beginRequest(): void {
    this.#requests += 1;
    this.#heads.begin();
  }

  /** The last request was sent on a socket that had carried another, and no byte came back. */
  get wasReusedInVain(): boolean {
    return this.#requests > 1 && !this.#heads.hasBegun;
  }

  async destroy(): Promise<void> {
    this.#socket?.destroy();
    await this.client.destroy();
  }

  #open(callback: buildConnector.Callback): void {
    const { address, isSecure } = this.#destination;
    const phases: Phases = { tcpMs: null, tlsMs: null };
    this.#phases = phases;
    this.#startedAt = performance.now();
    const socket = this.#connect();
    this.#socket = socket;
    this.#requests = 0;
    this.#checkAnswers(socket);
    let isOver = false;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, PROBE_IDLE_MS);
    // Runs before TLS's own listener, so before the first byte.
    socket.prependOnceListener("connect", () => {
      phases.tcpMs = performance.now() - this.#startedAt;
      if (isSameAddress(address, socket.remoteAddress)) return;
      const detail = `connected to ${socket.remoteAddress} instead of ${address}`;
      socket.destroy(new OutgoingFailure("blocked-address", detail));
    });
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      if (socket.destroyed) return;
      if (isSecure) phases.tlsMs = performance.now() - this.#startedAt - (phases.tcpMs ?? 0);
      const decide = () => {
        if (isOver) return;
        isOver = true;
        if (socket.readableLength === 0) return callback(null, socket);
        const early = new OutgoingFailure("protocol", "an answer came before the request was sent");
        socket.destroy();
        callback(early, null);
      };
      // In a busy process the timer is due before the sockets were read: two turns of the event loop read what arrived.
      setTimeout(() => setImmediate(() => setImmediate(decide)), EARLY_ANSWER_MS);
    });
    socket.on("error", (error) => {
      if (isOver) return;
      isOver = true;
      callback(error, null);
    });
  }

  /** undici reads by `socket.read`, so wrapping it gives access to the bytes before undici's parser. */
  #checkAnswers(socket: net.Socket): void {
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      let passed: Buffer | undefined = NOTHING;
      while (passed?.length === 0) {
        const chunk: Buffer | null = read(size);
        if (chunk === null) return null;
        passed = this.#heads.pass(chunk);
      }
      if (passed !== undefined) return passed;
      const failure = this.#heads.isTooLarge
        ? new OutgoingFailure("too-large", `the head of the answer exceeds ${MAX_HEAD_BYTES} bytes`)
        : new OutgoingFailure("protocol", "the status line is not that of HTTP/1.0 or HTTP/1.1");
      socket.destroy(failure);
      return null;
    };
  }

  /** SNI, the certificate check and the Host header use the name; the connection uses only the address. */
  #connect(): net.Socket {
    const destination = this.#destination;
    const { address, host, port, session } = destination;
    if (!destination.isSecure) return net.connect({ host: address, port });
    const name = host.replace(/\.$/, "");
    const socket = tls.connect({
      host: address,
      port,
      session,
      ALPNProtocols: ["http/1.1"],
      // RFC 6066, 3: no literal addresses and no final dot in SNI.
      servername: net.isIP(name) === 0 ? name : "",
    });
    socket.on("session", (fresh) => {
      destination.session = fresh;
    });
    return socket;
  }
}

const IDLE_MS = 30_000;
const MAX_DESTINATIONS = 512;

/** The connections to one address of one origin. The idle ones are a stack: the most recently used is taken first. */
export interface ConnectionPool {
  readonly destination: Destination;
  readonly idle: Connection[];
  readonly inUse: Set<Connection>;
}

interface ConnectionPools {
  /** The callers limit how many are in use at the same time. */
  to(address: string, target: Omit<Destination, "address">): ConnectionPool;
  close(): Promise<void>;
}

/** A connection for one request: the most recently used idle one, or a new one if none is idle or `isFresh` is set. */
export function takeConnection(pool: ConnectionPool, { isFresh }: { isFresh: boolean }): Connection {
  const connection = (isFresh ? undefined : pool.idle.pop()) ?? new Connection(pool.destination);
  pool.inUse.add(connection);
  return connection;
}

/** Keeps or closes a connection. Only one that ended cleanly may be kept: no byte of one exchange may reach the next. */
export function giveBackConnection(pool: ConnectionPool, connection: Connection, isKept: boolean): void {
  pool.inUse.delete(connection);
  connection.usedAt = performance.now();
  if (isKept) pool.idle.push(connection);
  else void connection.destroy();
}

/** Pools by origin and address. Idle connections are closed, so that their number follows the current traffic. */
export function connectionPools(): ConnectionPools {
  const pools = new Map<string, ConnectionPool>();

  const closeIdle = (idleMs: number, maxPools: number) => {
    const usedBefore = performance.now() - idleMs;
    for (const [key, pool] of pools) {
      if (pools.size <= maxPools) return;
      const firstKept = pool.idle.findIndex(({ usedAt }) => usedAt > usedBefore);
      for (const connection of pool.idle.splice(0, firstKept < 0 ? pool.idle.length : firstKept))
        void connection.destroy();
      if (pool.inUse.size + pool.idle.length === 0) pools.delete(key);
    }
  };
  const timer = setInterval(() => closeIdle(IDLE_MS, 0), IDLE_MS / 2);
  timer.unref();

  return {
    to(address, target) {
      const key = `${target.origin} ${address}`;
      let pool = pools.get(key);
      if (!pool) {
        closeIdle(0, MAX_DESTINATIONS - 1);
        const { origin, isSecure, host, port } = target;
        pool = { destination: { origin, isSecure, host, port, address }, idle: [], inUse: new Set() };
        pools.set(key, pool);
      }
      return pool;
    },
    async close() {
      clearInterval(timer);
      const all = [...pools.values()].flatMap(({ idle, inUse }) => [...idle, ...inUse]);
      pools.clear();
      await Promise.all(all.map((connection) => connection.destroy()));
    },
  };
}

const NOTHING = Buffer.alloc(0);
const VERSION = Buffer.from("HTTP/1.");
/** `HTTP/1.1 103`: the indexes of the first and the last digit of the status. */
const STATUS_AT = 9;
const STATUS_ENDS_AT = 11;
const CR = 13;
const LF = 10;
const SWITCHING_PROTOCOLS = "101";

/**
 * Checks the heads of the answers on a connection: each begins with a status line of HTTP/1.x, and those of one exchange are
 * bounded. undici's parser also accepts HTTP/2.0, HTTP/0.9, RTSP and ICE, and does not report which; it bounds the headers of
 * each answer, but neither reason phrases nor interim answers. A client must expect interim answers that it did not ask for
 * (RFC 9110, 15.2), and undici closes the connection at 100 and at `connection: close` in any of them, so they are left out.
 */
export class AnswerHeadCheck {
  /** Matches the status line, then the rest of an interim answer's head or of the answer's own, or nothing after that. */
  #state: "line" | "interim-head" | "head" | "passed" = "passed";
  #matched = 0;
  #status = "";
  /** Bytes of the current line. The parser also ends it with bare line feeds. */
  #lineLength = 0;
  #headBytes = 0;
  /** The beginning of a status line, until its status is known. */
  #held: Buffer = NOTHING;
  /** A byte has arrived since `begin`. */
  hasBegun = false;

  get isTooLarge(): boolean {
    return this.#headBytes > MAX_HEAD_BYTES;
  }

  /** Call before a request is sent: the next bytes are its answer. */
  begin(): void {
    this.#expectLine();
    this.#headBytes = 0;
    this.#held = NOTHING;
    this.hasBegun = false;
  }

  /**
   * The next bytes without interim answers, however they are split. Undefined: a status line belongs to another protocol, or
   * the heads are too large.
   */
  pass(chunk: Buffer): Buffer | undefined {
    this.hasBegun ||= chunk.length > 0;
    let from = 0;
    for (let index = 0; index < chunk.length && this.#state !== "passed"; index++) {
      const byte = chunk[index] ?? 0;
      if (++this.#headBytes > MAX_HEAD_BYTES) return undefined;
      if (this.#state === "line") {
        if (!this.#readLine(byte)) return undefined;
      } else if (this.#isHeadOver(byte)) {
        if (this.#state === "head") this.#state = "passed";
        else {
          this.#expectLine();
          this.#held = NOTHING;
          from = index + 1;
        }
      }
    }
    const rest = chunk.subarray(from);
    if (this.#state === "interim-head") return NOTHING;
    const bytes = this.#held.length === 0 ? rest : Buffer.concat([this.#held, rest]);
    this.#held = this.#state === "line" ? bytes : NOTHING;
    return this.#state === "line" ? NOTHING : bytes;
  }

  #expectLine(): void {
    this.#state = "line";
    this.#matched = 0;
    this.#status = "";
  }

  #readLine(byte: number): boolean {
    // The parser also allows empty lines before an answer.
    if (this.#matched === 0 && (byte === CR || byte === LF)) return true;
    if (this.#matched < VERSION.length && byte !== VERSION[this.#matched]) return false;
    if (this.#matched >= STATUS_AT) this.#status += String.fromCharCode(byte);
    if (this.#matched === STATUS_ENDS_AT) {
      const isInterim = this.#status.startsWith("1") && this.#status !== SWITCHING_PROTOCOLS;
      this.#state = isInterim ? "interim-head" : "head";
    }
    this.#matched += 1;
    this.#lineLength = this.#matched;
    return true;
  }

  #isHeadOver(byte: number): boolean {
    if (byte === CR) return false;
    if (byte !== LF) this.#lineLength += 1;
    else if (this.#lineLength === 0) return true;
    else this.#lineLength = 0;
    return false;
  }
}
