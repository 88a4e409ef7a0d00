const PAUSE_MS = 2000;

/** The status screen comes in a file of its own, after the video. A connection lost meanwhile must not keep it away for good. */
export async function loadRewardStatus(): Promise<typeof import("./reward-status/reward-status.tsx")> {
  for (;;) {
    try {
      return await import("./reward-status/reward-status.tsx");
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
