const PAUSE_MS = 2000;

/** Loads the status screen's chunk, which comes after the video. Retries, so that a lost connection only delays it. */
export async function loadRewardStatus(): Promise<typeof import("./reward-status/reward-status.tsx")> {
  for (;;) {
    try {
      return await import("./reward-status/reward-status.tsx");
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
