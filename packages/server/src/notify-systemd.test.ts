import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { notifySystemd } from "./notify-systemd.ts";

/** What systemd does: it reads a message, and closes the file by which its sender sees that it was read. */
const manager = `
import os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
print("open", flush=True)
while True:
    message, files, _, _ = socket.recv_fds(server, 4096, 4)
    for file in files: os.close(file)
    print(message.decode().strip(), flush=True)
`;

const isHere = ["systemd-notify", "python3"].every((program) => spawnSync(program, ["--version"]).status === 0);

test.skipIf(!isHere)("a unit of Type=notify is told once the server serves", async () => {
  const folder = mkdtempSync(join(tmpdir(), "notify-"));
  const socket = join(folder, "socket");
  const python = spawn("python3", ["-c", manager, socket], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    python.kill();
    await once(python, "close");
    rmSync(folder, { recursive: true });
  });
  let seen = "";
  python.stdout.on("data", (chunk) => {
    seen += chunk;
  });
  await expect.poll(() => seen).toBe("open\n");
  const logger = { error: vi.fn() };
  notifySystemd({ logger }, { PATH: process.env.PATH, NOTIFY_SOCKET: socket });
  await expect.poll(() => seen).toMatch(/^open\nREADY=1\n/);
  expect(logger.error).not.toHaveBeenCalled();
});

test("without a unit that waits nothing runs, and without systemd's program the log says what is missing", async () => {
  const logger = { error: vi.fn() };
  notifySystemd({ logger }, { PATH: "/nowhere" });
  notifySystemd({ logger }, { PATH: "/nowhere", NOTIFY_SOCKET: "/nowhere/socket" });
  await expect.poll(() => logger.error.mock.calls.length).toBe(1);
  expect(logger.error.mock.calls[0]?.[1]).toMatch(/install systemd-notify/);
});
