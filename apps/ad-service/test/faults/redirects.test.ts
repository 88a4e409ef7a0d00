import { describe, expect, test } from "vitest";
import { startMisbehavingServer } from "./misbehaving-server.ts";
import { runFault } from "./run-fault.ts";

type Ports = { own: number; elsewhere: number };

const targets: Record<string, (ports: Ports) => string> = {
  "the same address": () => "/in?a=1",
  "itself, in full": ({ own }) => `http://hook.test:${own}/other`,
  "another port": ({ elsewhere }) => `http://hook.test:${elsewhere}/`,
  "another host": ({ elsewhere }) => `http://127.0.0.1:${elsewhere}/`,
  "another host, without a scheme": ({ elsewhere }) => `//127.0.0.1:${elsewhere}/`,
  "another host, by HTTPS": ({ elsewhere }) => `https://hook.test:${elsewhere}/`,
  "the metadata address": () => "http://169.254.169.254/latest/meta-data/",
  "a file": () => "file:///etc/passwd",
  "no address": () => "http://[",
  nothing: () => "",
};

/** Each of the two redirects to the other, or to the given location. */
async function redirectingPair(status: number, location: (ports: Ports) => string) {
  const requests = { own: 0, elsewhere: 0 };
  const ports: Ports = { own: 0, elsewhere: 0 };
  const redirecting = (name: keyof Ports, target: () => string) =>
    startMisbehavingServer((socket) => {
      socket.on("data", () => {
        requests[name] += 1;
        socket.write(`HTTP/1.1 ${status} Go\r\nlocation: ${target()}\r\ncontent-length: 0\r\n\r\n`);
      });
    });
  const elsewhere = await redirecting("elsewhere", () => `http://hook.test:${ports.own}/`);
  const own = await redirecting("own", () => location(ports));
  ports.own = own.port;
  ports.elsewhere = elsewhere.port;
  return { own, elsewhere, requests };
}

describe.concurrent.each([301, 302, 303, 307, 308])("a redirect is a failure and is never followed: %i", (status) => {
  test.each(Object.entries(targets))("to %s", async (what, location) => {
    const { own, elsewhere, requests } = await redirectingPair(status, location);
    const { result } = await runFault({ what, server: async () => own, expected: {} });
    elsewhere.close();
    expect(result).toMatchObject({ outcome: "failed", errorClass: "redirect", status, wasSent: true });
    expect(requests).toEqual({ own: 1, elsewhere: 0 });
    expect(elsewhere.connections()).toBe(0);
  });
});
