import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { initDataOf } from "../../e2e/scripted-viewer.ts";
import { environmentOf } from "../../scripts/demo-stack.ts";
import { freePort, type Server, startServer } from "../../scripts/processes.ts";
import {
  type BenchStack,
  benchStack,
  clockAt,
  clockSocket,
  environmentForLoad,
  type MovableClock,
  pidsOf,
  type Store,
  type Target,
} from "../bench-stack.ts";
import { keepOnCores } from "../cores.ts";
import { type Load, type LoadResult, load, mergeParallel } from "../load.ts";
import { operate } from "../operate.ts";
import { videoSeconds } from "../views.ts";

/** An ad service of a deployment. */
interface Node {
  readonly url: string;
  readonly pid: number;
}

/** A stack on one database, to which further ad services are added. */
export interface GrowingStack {
  readonly stack: BenchStack;
  readonly databaseUrl: string;
  readonly nodes: Node[];
  /** Of all nodes. */
  readonly clock: MovableClock;
  /** The companion API, and further ad services. */
  stop(): Promise<void>;
  addNode(): Promise<void>;
}

export async function growingStack(store: Store & { readonly databaseUrl: string }): Promise<GrowingStack> {
  const stack = await benchStack(store, { videoSeconds });
  // No deliveries run during the measurement.
  await operate(stack, "POST", `/endpoints/${stack.secrets.botId}/disable`, {});
  keepOnCores(pidsOf(stack));
  const { dataDirectory, urls } = stack;
  const added: Server[] = [];
  const first = stack.servers.get("ad-service")?.process.pid ?? 0;
  const nodes: Node[] = [{ url: urls.adService, pid: first }];
  const clocks = [join(dataDirectory, clockSocket)];
  return {
    stack,
    databaseUrl: store.databaseUrl,
    nodes,
    clock: clockAt(clocks),
    async addNode() {
      const folder = join(dataDirectory, `node-${nodes.length + 1}`);
      mkdirSync(folder);
      const ports = { adService: await freePort(), api: 9, demoBot: 9 };
      const options = { dataDirectory: folder, ports, databaseUrl: store.databaseUrl, hasChat: false };
      const environment = environmentOf(
        "ad-service",
        stack.secrets,
        { ...options, video: "", cooldownSeconds: 0, dailyCap: 1000 },
        urls,
      );
      const server = startServer(`ad service ${nodes.length + 1}`, "apps/ad-service/src/main.ts", {
        ...environment,
        ...environmentForLoad(folder),
        MEDIA_DIR: join(dataDirectory, "ad-service/media"),
      });
      added.push(server);
      await server.ready;
      const pid = server.process.pid ?? 0;
      keepOnCores([pid]);
      nodes.push({ url: `http://127.0.0.1:${ports.adService}`, pid });
      clocks.push(join(folder, clockSocket));
    },
    async stop() {
      for (const server of added.reverse()) await server.stop();
      await stack.stop();
    },
  };
}

/** The first `count` ad services of a stack and its companion API, as one target. */
export function targetOf({ stack, nodes, clock }: GrowingStack, name: string, count: number): Target {
  const used = nodes.slice(0, count);
  const api = stack.servers.get("api")?.process.pid ?? 0;
  return {
    name,
    urls: stack.urls,
    bot: { botId: stack.secrets.botId, token: stack.secrets.adApiToken ?? "" },
    pids: [...used.map(({ pid }) => pid), api],
    initDataOf: (userId, at) => initDataOf(userId, stack.secrets, at),
    clock,
    stop: async () => {},
  };
}

/**
 * Sends what is meant for the ad service to these nodes, in turn, like a load balancer without sessions: the reports of a view
 * reach each of them. What is meant for the companion API is sent as it is.
 */
export function balanced({ nodes }: GrowingStack, count: number): (spec: Load) => Promise<LoadResult> {
  let turn = 0;
  return async (spec) => {
    if (count === 1 || spec.url !== nodes[0]?.url) return load(spec);
    turn += 1;
    const results = await Promise.all(
      nodes.slice(0, count).map(({ url }, node) => {
        const requests = spec.requests.filter((_, index) => (index + turn) % count === node);
        return load({ ...spec, url, requests, connections: Math.ceil(64 / count) });
      }),
    );
    return mergeParallel(results);
  };
}
