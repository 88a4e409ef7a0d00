/** Publishers' endpoints that answer 200 after DELAY_MS: one origin for each of PORTS, the far end of the deliveries path. */
import { createServer } from "node:http";

const delayMs = Number(process.env.DELAY_MS ?? 0);
const ports = (process.env.PORTS ?? "").split(",").map(Number);

const servers = ports.map((port) => {
  const server = createServer((request, response) => {
    request.resume();
    const answer = () => {
      response.writeHead(200, { "content-length": "2" });
      response.end("{}");
    };
    if (delayMs === 0) request.once("end", answer);
    else setTimeout(answer, delayMs);
  });
  server.keepAliveTimeout = 30_000;
  return new Promise<typeof server>((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
});

const listening = await Promise.all(servers);
console.log(JSON.stringify({ msg: "listening" }));
process.once("SIGTERM", () => {
  for (const server of listening) {
    server.close();
    server.closeAllConnections();
  }
});
