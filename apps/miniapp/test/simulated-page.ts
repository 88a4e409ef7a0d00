import type { ReportRequest } from "@intermission/ad-core/player-api";
import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import { vi } from "vitest";
import { SimulatedService } from "./simulated-service.ts";
import { SimulatedVideo } from "./simulated-video.ts";

/** The outcome of a call. A call that hangs never arrives and times out after ten seconds. */
export type Network = "fine" | "request-lost" | "answer-lost" | "hangs" | "busy";

interface SentCall extends ReportRequest {
  readonly atMs: number;
  readonly by: "fetch" | "beacon";
}

const ONE_WAY_MS = 60;
const MAX_CALL_MS = 10_000;

/** A page with a video, a network and the ad service, all on the test's fake clock. */
export function simulatePage({ durationMs }: { durationMs: number }) {
  const service = new SimulatedService(durationMs);
  const video = new SimulatedVideo(durationMs);
  const calls: SentCall[] = [];
  const faults: PlaybackFault[] = [];
  const startedAt = performance.now();
  let network: Network = "fine";
  let isGone = false;

  const sent = (by: SentCall["by"], body: string): ReportRequest => {
    const request: ReportRequest = JSON.parse(body);
    calls.push({ ...request, atMs: performance.now() - startedAt, by });
    return request;
  };
  const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

  async function answer(url: string, { body }: { body: string }) {
    if (url.endsWith("/faults")) {
      faults.push(JSON.parse(body).fault);
      return {
        ok: true,
        status: 200,
        headers: new Headers(),
        json: async () => ({ next_opening: "another-ad", server_time: "2030-01-01T00:00:00Z" }),
      };
    }
    const request = sent("fetch", body);
    const fate = network;
    await wait(ONE_WAY_MS);
    if (fate === "hangs") await wait(MAX_CALL_MS - ONE_WAY_MS);
    // A pending call may be lost with its page.
    if (fate === "hangs" || fate === "request-lost" || isGone) throw new TypeError("Failed to fetch");
    if (fate === "busy")
      return { ok: false, status: 503, headers: new Headers({ "retry-after": "1" }), json: async () => ({}) };
    const response = service.receive(request);
    await wait(ONE_WAY_MS);
    if (fate === "answer-lost") throw new TypeError("Failed to fetch");
    return { ok: true, status: 200, headers: new Headers(), json: async () => response };
  }

  const page = new EventTarget();
  const shown = Object.assign(new EventTarget(), {
    visibilityState: "visible",
    hasFocus: () => true,
    querySelector: () => null,
  });
  const beacon = (_: string, body: string): boolean => {
    const request = sent("beacon", body);
    setTimeout(() => service.receive(request), ONE_WAY_MS);
    return true;
  };
  vi.stubGlobal("window", page);
  vi.stubGlobal("document", shown);
  vi.stubGlobal("location", { href: "https://ads.example/" });
  vi.stubGlobal("navigator", { sendBeacon: beacon });
  vi.stubGlobal("HTMLMediaElement", { HAVE_CURRENT_DATA: 2, NETWORK_LOADING: 2 });
  vi.stubGlobal("fetch", answer);
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);

  const setVisible = (isVisible: boolean): void => {
    shown.visibilityState = isVisible ? "visible" : "hidden";
    shown.dispatchEvent(new Event("visibilitychange"));
  };

  return {
    service,
    video,
    calls,
    faults,
    wait: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
    setNetwork(next: Network): void {
      network = next;
    },
    touch: () => page.dispatchEvent(new Event("click")),
    hide: () => setVisible(false),
    show: () => setVisible(true),
    leave: () => page.dispatchEvent(new Event("pagehide")),
    /** Kills the page without any event or beacon; pending calls do not arrive. */
    kill(): void {
      isGone = true;
    },
  };
}
