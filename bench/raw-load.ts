/**
 * Replaces `load.lua` on machines without wrk: writes prebuilt bytes to raw sockets. Takes the same arguments after the
 * port, and writes the same result. It uses several times the processor time of wrk.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";

const [port, requestsFile = "", connectionCount, expected, resultFile = "", bodiesFile] = process.argv.slice(2);
const file = readFileSync(requestsFile);
const requests: Buffer[] = [];
for (let at = 0; at < file.length; ) {
  const lineEnd = file.indexOf("\n", at);
  const end = lineEnd + 1 + Number(file.toString("latin1", at, lineEnd));
  requests.push(file.subarray(lineEnd + 1, end));
  at = end;
}

const counts = new Map<number, number>();
const bodies: string[] = [];
let [next, answered, unexpected, broken, first] = [0, 0, 0, 0, ""];

/** The first complete answer, or undefined while bytes are missing. Our servers send the length of each answer. */
function readAnswer(bytes: Buffer): { status: string; body: string } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  if (bytes.length < headEnd + 4 + length) return undefined;
  return { status: head.slice(9, 12), body: bytes.toString("utf8", headEnd + 4, headEnd + 4 + length) };
}

function runConnection(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: Number(port), noDelay: true });
    let received: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    const send = () => {
      const request = requests[next++];
      if (request === undefined) {
        socket.destroy();
        return resolve();
      }
      sentAt = performance.now();
      socket.write(request);
    };
    socket.once("connect", send);
    socket.on("data", (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const answer = readAnswer(received);
      if (answer === undefined) return;
      const latency = Math.round((performance.now() - sentAt) * 1000);
      counts.set(latency, (counts.get(latency) ?? 0) + 1);
      received = Buffer.alloc(0);
      answered += 1;
      if (answer.status !== expected && ++unexpected === 1) {
        first = `${answer.status} ${answer.body.replace(/\s+/g, " ").slice(0, 300)}`;
      }
      if (bodiesFile !== undefined) bodies.push(answer.body);
      send();
    });
    socket.once("error", () => {
      broken += 1;
      resolve();
    });
  });
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: Number(connectionCount) }, runConnection));
const elapsed = (performance.now() - startedAt) * 1000;
const latencies = [...counts].map(([value, count]) => `latency ${value} ${count}`);
const facts = [`elapsed ${elapsed}`, `answered ${answered}`, `unexpected ${unexpected}`, `broken ${broken}`];
writeFileSync(resultFile, [...facts, `first ${first}`, ...latencies, ""].join("\n"));
if (bodiesFile !== undefined) writeFileSync(bodiesFile, bodies.join("\n"));
