import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import tls from "node:tls";

/** The endpoint's behaviour on a connection: raw bytes, since HTTP servers cannot misbehave. */
export type Behaviour = (socket: Socket) => unknown;

export interface MisbehavingServer {
  readonly port: number;
  /** Number of TCP connections so far. */
  connections(): number;
  open(): number;
  /** Bytes that it passed to the operating system. */
  written(): number;
  close(): void;
}

export interface Certificate extends tls.TlsOptions {
  readonly key: string;
  readonly cert: string;
}

/** Listens on 127.0.0.1, or another address of this machine. With a certificate, `behave` runs behind TLS. */
export async function startMisbehavingServer(
  behave: Behaviour,
  { certificate, address = "127.0.0.1", port = 0 }: { certificate?: Certificate; address?: string; port?: number } = {},
): Promise<MisbehavingServer> {
  const sockets = new Set<Socket>();
  const server: Server = certificate ? tls.createServer(certificate, behaveOnce) : createServer(behaveOnce);
  let connections = 0;
  let written = 0;

  function behaveOnce(socket: Socket): void {
    socket.on("error", () => {});
    behave(socket);
  }
  server.on("tlsClientError", () => {});
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      sockets.delete(socket);
      written += socket.bytesWritten;
    });
  });
  server.listen(port, address);
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("a TCP server has no port");
  return {
    port: bound.port,
    connections: () => connections,
    open: () => sockets.size,
    written: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, written),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A port of this machine on which no one is listening. */
export async function startNothing(): Promise<MisbehavingServer> {
  const server = await startMisbehavingServer(() => {});
  server.close();
  return server;
}

/** Reads and never answers. */
export const silence: Behaviour = (socket) => socket.resume();

/** Answers any input with these bytes. */
export function always(bytes: string): Behaviour {
  return (socket) => socket.on("data", () => socket.write(bytes));
}

/** Answers the first bytes of a request with these bytes, and keeps the connection open. */
export function answering(...parts: (string | Buffer)[]): Behaviour {
  return (socket) => socket.once("data", () => parts.forEach((part) => void socket.write(part)));
}

/** Answers the first bytes of a request with these bytes and the end of the connection. */
export function ending(bytes: string | Buffer = ""): Behaviour {
  return (socket) => socket.once("data", () => socket.end(bytes));
}

/** Answers the first bytes of a request with these bytes, and then resets the connection. */
export function cutting(bytes = ""): Behaviour {
  return (socket) => socket.once("data", () => socket.write(bytes, () => socket.resetAndDestroy()));
}

/**
 * Answers the first bytes of a request, or the connection itself, with a head and then one more piece per interval,
 * endlessly.
 */
export function dripping(
  head: string | Buffer,
  piece: string,
  { everyMs, atOnce = false }: { everyMs: number; atOnce?: boolean },
): Behaviour {
  return (socket) => {
    const drip = () => {
      socket.write(head);
      const timer = setInterval(() => socket.write(piece), everyMs);
      socket.once("close", () => clearInterval(timer));
    };
    if (atOnce) drip();
    else socket.once("data", drip);
  };
}

/** Answers the first bytes of a request with a head, and then one more piece as often as it can be sent. */
export function flooding(head: string, piece: string | Buffer, maxBytes = Number.POSITIVE_INFINITY): Behaviour {
  return (socket) => {
    const pump = () => {
      while (!socket.destroyed && socket.bytesWritten < maxBytes) {
        if (!socket.write(piece)) return void socket.once("drain", pump);
      }
    };
    socket.once("data", () => {
      socket.write(head);
      pump();
    });
  };
}

/** Applies the next of these to each connection, and the last to all later ones. */
export function byConnection(...behaviours: Behaviour[]): Behaviour {
  let connections = 0;
  return (socket) => behaviours[Math.min(connections++, behaviours.length - 1)]?.(socket);
}

/** Applies the next of these to each request of a connection. */
export function inTurn(...behaviours: Behaviour[]): Behaviour {
  return (socket) => {
    const left = [...behaviours];
    const behaveNext = () => {
      const behave = left.shift();
      if (!behave) return;
      behave(socket);
      socket.once("data", behaveNext);
    };
    behaveNext();
  };
}
