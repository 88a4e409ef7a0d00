import { join } from "node:path";
import { type DemoSecrets, demoSecrets } from "../../scripts/demo-secrets.ts";
import { environmentOf } from "../../scripts/demo-stack.ts";
import { freePort, root, runCommand } from "../../scripts/processes.ts";
import { seedDemo } from "../../scripts/seed-demo.ts";
import type { Role } from "./crash-steps.ts";
import { type MortalNode, mortalNode } from "./mortal-node.ts";
import { openTcpProxy } from "./tcp-proxy.ts";
import { type Arrival, watchWebhooks } from "./watch-webhooks.ts";
import { withRetries } from "./with-retries.ts";

export interface Nodes {
  readonly secrets: DemoSecrets;
  readonly all: readonly MortalNode[];
  /** URLs of the load balancers in front of the nodes. */
  readonly adServiceUrl: string;
  readonly apiUrl: string;
  /** The ports to which the load balancers forward: all nodes, until a script changes it. */
  readonly targets: Readonly<Record<Role, number[]>>;
  /** Webhooks between ad services and APIs, by event id. */
  readonly arrivals: ReadonlyMap<string, Arrival>;
  /** The operator's command line. */
  ads(commandArguments: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export interface NodesOptions {
  readonly dataDirectory: string;
  readonly adServices: number;
  readonly apis: number;
  /** Without it the servers use the embedded store, and there must be only one server of each kind. */
  readonly databaseUrl?: string | undefined;
  /** Further environment variables of a node, read at each of its starts. */
  readonly environmentOf?: (node: string) => NodeJS.ProcessEnv;
}

const settings = { video: join(root, "e2e/fixtures/clip-2s.mp4"), cooldownSeconds: 0, dailyCap: 10_000 };

/** Starts and seeds ad services and companion APIs, each kind behind its own load balancer. */
export async function startNodes(options: NodesOptions): Promise<Nodes> {
  const ports: Record<Role, number[]> = {
    "ad-service": await Promise.all(Array.from({ length: options.adServices }, freePort)),
    api: await Promise.all(Array.from({ length: options.apis }, freePort)),
  };
  const { arrivals, observe } = watchWebhooks();
  const targets: Record<Role, number[]> = { "ad-service": [...ports["ad-service"]], api: [...ports.api] };
  const proxies = {
    adService: await openTcpProxy({ targets: targets["ad-service"] }),
    api: await openTcpProxy({ targets: targets.api, observe }),
  };
  const urls = {
    adService: `http://127.0.0.1:${proxies.adService.port}`,
    api: `http://127.0.0.1:${proxies.api.port}`,
    demoBot: "http://127.0.0.1:9",
  };
  let secrets = demoSecrets(options.dataDirectory);
  const nodesOf = (role: Role) =>
    ports[role].map((port, index) => {
      const name = `${role}-${index + 1}`;
      const environment = () => ({
        ...environmentAt(role, port, secrets, options, urls),
        ...options.environmentOf?.(name),
      });
      return mortalNode({ ...options, name, role, port, environment });
    });
  const adServices = nodesOf("ad-service");
  const apis = nodesOf("api");
  const all = [...adServices, ...apis];

  const stop = async () => {
    await Promise.all(all.map((node) => node.stop()));
    await Promise.all([proxies.adService.close(), proxies.api.close()]);
  };
  const ads = operatorsCommandLine({ ADS_URL: urls.adService, OPERATOR_TOKEN: secrets.operatorToken });
  try {
    await Promise.all(adServices.map((node) => node.start()));
    secrets = {
      ...secrets,
      adApiToken: await seedDemo({ ...settings, ads, secrets, urls, webhookUrl: `${urls.api}/webhooks/ads` }),
    };
    await Promise.all(apis.map((node) => node.start()));
    // Its first test may have come before the APIs. If kills met the next ones too, its events would be held for minutes.
    await withRetries("testing the endpoint", () => ads(["endpoints", "test", secrets.botId]));
  } catch (error) {
    await stop();
    throw error;
  }
  return { secrets, all, adServiceUrl: urls.adService, apiUrl: urls.api, targets, arrivals, ads, stop };
}

function environmentAt(
  role: Role,
  port: number,
  secrets: DemoSecrets,
  options: NodesOptions,
  urls: { adService: string; api: string; demoBot: string },
): NodeJS.ProcessEnv {
  const ports = { adService: port, api: port, demoBot: 9 };
  return {
    ...environmentOf(role, secrets, { ...options, ...settings, ports, hasChat: false }, urls),
    // All people share this machine's IP address and act faster than real people.
    TRUST_PROXY: "127.0.0.1",
    RATE_LIMIT_PER_TOKEN: "10000",
    RATE_LIMIT_PER_USER: "10000",
    VAST_ALLOWED_NETWORKS: "127.0.0.1",
  };
}

function operatorsCommandLine(env: NodeJS.ProcessEnv) {
  return (commandArguments: readonly string[]) =>
    runCommand(process.execPath, [join(root, "apps/ad-service/src/cli.ts"), ...commandArguments], { env });
}
