import { execFile } from "node:child_process";
import type { Logger } from "./logger.ts";

const MAX_MS = 30_000;

/**
 * Tells systemd that this server serves, for units of `Type=notify`; elsewhere nothing happens. Node has no datagram sockets of
 * this kind, so systemd's own program does it: it ends only when systemd has read the message, and so knows whose it is.
 */
export function notifySystemd(
  { logger }: { logger: Pick<Logger, "error"> },
  env: NodeJS.ProcessEnv = process.env,
): void {
  if (!env.NOTIFY_SOCKET) return;
  execFile("systemd-notify", ["--ready"], { env, timeout: MAX_MS }, (error) => {
    if (error)
      logger.error({ reason: error.message }, "systemd was not told that this server serves: install systemd-notify");
  });
}
