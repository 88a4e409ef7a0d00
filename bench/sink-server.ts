/** A publisher's endpoint that answers 200 at once and counts: the far end of the deliveries path. */
import { createServer } from "node:http";

let received = 0;
const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.end(String(received));
    return;
  }
  request.resume();
  request.once("end", () => {
    received += 1;
    response.writeHead(200, { "content-length": "2" });
    response.end("{}");
  });
});
server.keepAliveTimeout = 30_000;
server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log(JSON.stringify({ msg: "listening" })));
process.once("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
