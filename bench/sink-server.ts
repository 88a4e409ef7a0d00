/**
 * Publishers' endpoints that answer 200: one origin for each of PORTS. `POST /?delayMs=&expected=` at CONTROL_PORT sets the
 * delay of answers and starts the count; `GET` returns how many webhooks were answered since, and the rate of all except the
 * first tenth.
 */
import { createServer, type RequestListener } from "node:http";

const ports = (process.env.PORTS ?? "").split(",").map(Number);

let delayMs = 0;
let unmeasured = 0;
let answered = 0;
let measuredFrom = 0;
let lastAt = 0;

function countAnswer(): void {
  answered += 1;
  lastAt = performance.now();
  if (answered === unmeasured) measuredFrom = lastAt;
}

const endpoint: RequestListener = (request, response) => {
  request.resume();
  const answer = () => {
    response.writeHead(200, { "content-length": "2" });
    response.end("{}");
    countAnswer();
  };
  if (delayMs === 0) request.once("end", answer);
  else setTimeout(answer, delayMs);
};

const control: RequestListener = ({ method, url = "/" }, response) => {
  if (method === "POST") {
    const { searchParams } = new URL(url, "http://control");
    delayMs = Number(searchParams.get("delayMs"));
    unmeasured = Math.floor(Number(searchParams.get("expected")) / 10);
    answered = 0;
  }
  response.end(JSON.stringify({ answered, perSecond: ((answered - unmeasured) * 1000) / (lastAt - measuredFrom) }));
};

function listen(port: number, listener: RequestListener) {
  const server = createServer(listener);
  server.keepAliveTimeout = 30_000;
  return new Promise<typeof server>((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}

const listening = await Promise.all([
  ...ports.map((port) => listen(port, endpoint)),
  listen(Number(process.env.CONTROL_PORT), control),
]);
console.log(JSON.stringify({ msg: "listening" }));
process.once("SIGTERM", () => {
  for (const server of listening) {
    server.close();
    server.closeAllConnections();
  }
});
