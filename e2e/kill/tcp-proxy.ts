import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

export interface TcpProxy {
  readonly port: number;
  /** Resets every open connection, and every new one until `restore`. */
  cut(): void;
  /** Forwards no bytes until `restore`, without closing connections. */
  stall(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Observes one connection's traffic, chunk by chunk. */
export interface ConnectionObserver {
  onSent(chunk: Buffer): void;
  onAnswered(chunk: Buffer): void;
}

/** Like a load balancer that retries its targets while they start. */
const PATIENCE_MS = 3000;

/** Forwards connections to the targets on 127.0.0.1 in turn. When a target crashes, its connections close. */
export async function openTcpProxy(options: {
  readonly targets: readonly number[];
  /** Called for each connection. */
  readonly observe?: () => ConnectionObserver;
}): Promise<TcpProxy> {
  const open = new Set<Socket>();
  /** Both ends of each open connection. */
  const flowing = new Set<Socket>();
  let isCut = false;
  let stalled: { readonly isOver: Promise<void>; readonly end: () => void } | undefined;
  let turn = 0;

  const server = createServer(async (client) => {
    open.add(client);
    client.on("error", () => {});
    client.on("close", () => open.delete(client));
    if (isCut) return void client.resetAndDestroy();
    client.pause();
    const target = await reach(() => options.targets[turn++ % options.targets.length] ?? 0);
    await stalled?.isOver;
    if (target === undefined || client.destroyed || isCut) {
      target?.destroy();
      return void client.resetAndDestroy();
    }
    target.on("close", (hasFailed) => (hasFailed ? client.resetAndDestroy() : client.end()));
    client.on("close", () => target.destroy());
    for (const socket of [client, target]) {
      flowing.add(socket);
      socket.on("close", () => flowing.delete(socket));
    }
    const observer = options.observe?.();
    if (observer) {
      client.on("data", observer.onSent);
      target.on("data", observer.onAnswered);
    }
    client.pipe(target).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server without a port");

  const resetAll = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port: address.port,
    cut() {
      isCut = true;
      resetAll();
    },
    stall() {
      const { promise, resolve } = Promise.withResolvers<void>();
      stalled = { isOver: promise, end: resolve };
      for (const socket of flowing) socket.pause();
    },
    restore() {
      isCut = false;
      if (stalled) for (const socket of flowing) socket.resume();
      stalled?.end();
      stalled = undefined;
    },
    async close() {
      resetAll();
      server.close();
      await once(server, "close");
    },
  };
}

async function reach(nextPort: () => number): Promise<Socket | undefined> {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    const socket = connect(nextPort(), "127.0.0.1").setNoDelay();
    socket.on("error", () => {});
    const isConnected = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("close", () => resolve(false));
    });
    if (isConnected) return socket;
    await wait(50);
  }
  return undefined;
}
