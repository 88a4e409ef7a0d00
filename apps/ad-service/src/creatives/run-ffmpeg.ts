import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const LONGEST_MS = 5 * 60_000;

/**
 * Runs ffmpeg, by its name or path, on local files, without asking anybody, for five minutes at most. What a file says may
 * not make it open addresses: only files and what stands in them. False: it failed, or is not on this machine.
 */
export async function runFfmpeg(ffmpeg: string, words: readonly string[], longestMs = LONGEST_MS): Promise<boolean> {
  const always = ["-nostdin", "-v", "error", "-y", "-protocol_whitelist", "file"];
  try {
    await run(ffmpeg, [...always, ...words], { timeout: longestMs, killSignal: "SIGKILL" });
    return true;
  } catch {
    return false;
  }
}
