import { setTimeout as pause } from "node:timers/promises";
import { BoundedCache } from "@intermission/server/bounded-cache";

/** The mobile network of a simulated phone. */
export const networks = {
  fast: { latencyMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY, isOffline: false },
  /** Lighthouse's slow 3G: 400 kbit/s. */
  "slow-3g": { latencyMs: 400, bytesPerSecond: 50_000, isOffline: false },
  offline: { latencyMs: 0, bytesPerSecond: 0, isOffline: true },
} as const;
type NetworkName = keyof typeof networks;

export interface Phone {
  network: NetworkName;
  /** The publisher's API that the open session named. */
  publisherApi: string | undefined;
  session: { readonly id: string; readonly token: string } | undefined;
}

const MAX_PHONES = 2000;

/** The simulated phones, one for each user. */
export class Phones {
  readonly #phones = new BoundedCache<string, Phone>(MAX_PHONES);

  of(userId: string): Phone {
    const known = this.#phones.get(userId);
    if (known) return known;
    const phone: Phone = { network: "fast", publisherApi: undefined, session: undefined };
    this.#phones.set(userId, phone);
    return phone;
  }
}

const SLICES_PER_SECOND = 10;

/** The network has gone: the connection ends without an answer, as it does on a phone. */
export class NetworkGone extends Error {
  override readonly name = "NetworkGone";
}

/** Resolves when a request has crossed the phone's network. Throws `NetworkGone` while it is offline. */
export async function cross(phone: Pick<Phone, "network">): Promise<void> {
  const { latencyMs, isOffline } = networks[phone.network];
  if (isOffline) throw new NetworkGone();
  if (latencyMs > 0) await pause(latencyMs);
}

/** The same bytes at the speed of the phone's network, which may change meanwhile. */
export async function* atSpeedOf(
  phone: Pick<Phone, "network">,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    for (let from = 0; from < chunk.byteLength; ) {
      const { bytesPerSecond, isOffline } = networks[phone.network];
      if (isOffline) throw new NetworkGone();
      const size = Math.min(chunk.byteLength - from, bytesPerSecond / SLICES_PER_SECOND);
      yield chunk.subarray(from, from + size);
      from += size;
      if (Number.isFinite(bytesPerSecond)) await pause(1000 / SLICES_PER_SECOND);
    }
  }
}
