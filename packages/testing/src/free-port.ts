import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ephemeral ports of outgoing connections, which could take the port before the server listens. */
const FIRST_PORT = 10_000;
const LAST_PORT = 32_000;

/** A port of 127.0.0.1 on which no process listens now. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error(`no port is free between ${FIRST_PORT} and ${LAST_PORT}`);
}
