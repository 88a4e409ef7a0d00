import { isPlainHttp } from "@intermission/ad-core/web-address";

const demoVariables = ["DEMO_BOT_ID", "DEMO_TELEGRAM_PUBLIC_KEY", "DEMO_CHAT_ORIGIN"];
const loopbackHosts = ["localhost", "[::1]", "::1"];

/**
 * Faults of combinations of variables. Reads the raw text, so that they are reported together with the faults of each
 * variable.
 */
export function crossFaults(given: NodeJS.ProcessEnv): string[] {
  const ofMode = given.MODE === "demo" ? demoFaults(given) : productionFaults(given);
  return [...ofMode, ...metricsFaults(given), ...mediaFaults(given)];
}

const bucketVariables = ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"];

/** Videos are kept in a folder or in a bucket; a bucket needs all of its variables. */
export function mediaFaults(given: NodeJS.ProcessEnv): string[] {
  const missing = bucketVariables.filter((name) => given[name] === undefined);
  if (missing.length === bucketVariables.length) return [];
  if (missing.length > 0)
    return missing.map((name) => `${name} is missing: videos are kept in a bucket if all S3_ variables are set`);
  return given.MEDIA_DIR === undefined ? [] : ["MEDIA_DIR and S3_BUCKET are both set: videos are kept in one of them"];
}

function metricsFaults(given: NodeJS.ProcessEnv): string[] {
  const { METRICS_PORT: port, METRICS_HOST: host = "127.0.0.1", METRICS_TOKEN: token } = given;
  const faults: string[] = [];
  if (port !== undefined && token === undefined && !isLoopback(host)) {
    faults.push(`METRICS_TOKEN is missing: ${host} can be reached from other machines, and metrics are not public`);
  }
  if (port !== undefined && port !== "0" && port === (given.PORT ?? "8701")) {
    faults.push("METRICS_PORT is the same as PORT: with METRICS_TOKEN, PORT serves the metrics without it");
  }
  return faults;
}

function productionFaults(given: NodeJS.ProcessEnv): string[] {
  const faults = demoVariables
    .filter((name) => given[name] !== undefined)
    .map((name) => `${name} is for MODE=demo only: anyone with the demo's key can sign in as any user`);
  if (given.PUBLIC_URL === undefined) {
    faults.push(
      "PUBLIC_URL is missing: the https address at which users reach this server, such as https://ads.example.com",
    );
  }
  for (const name of ["PUBLIC_URL", "DIRECT_LINK_URL", "MINIAPP_URL"]) {
    const address = given[name];
    if (address && isPlainHttp(address) && !isLoopbackAddress(address)) {
      faults.push(`${name} must begin with https:// in production: Telegram opens only https addresses`);
    }
  }
  return faults;
}

function demoFaults(given: NodeJS.ProcessEnv): string[] {
  const { HOST: host = "127.0.0.1", PUBLIC_URL: publicUrl } = given;
  const faults: string[] = [];
  if (!isLoopback(host)) faults.push(`HOST must be a loopback address in demo mode, and ${host} is not`);
  if (publicUrl !== undefined && !isLoopbackAddress(publicUrl)) {
    faults.push(
      "PUBLIC_URL must be a loopback address in demo mode: demo users are made up, and anyone can sign in as one",
    );
  }
  if ((given.DEMO_BOT_ID === undefined) !== (given.DEMO_TELEGRAM_PUBLIC_KEY === undefined)) {
    faults.push(
      "DEMO_BOT_ID and DEMO_TELEGRAM_PUBLIC_KEY belong together: the demo's key is valid for the demo's bot only",
    );
  }
  return faults;
}

function isLoopbackAddress(address: string): boolean {
  return URL.canParse(address) && isLoopback(new URL(address).hostname);
}

function isLoopback(host: string): boolean {
  return loopbackHosts.includes(host) || /^127(\.\d{1,3}){3}$/.test(host);
}
