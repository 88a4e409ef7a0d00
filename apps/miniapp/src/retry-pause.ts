/**
 * Milliseconds until the next try. Pauses double, and each is up to half longer: pages that an outage has stopped together
 * must not come back together. `atLeastMs`: what the service requests.
 */
export function retryPauseMs(failures: number, firstMs: number, maxMs: number, atLeastMs = 0): number {
  return Math.max(Math.min(firstMs * 2 ** failures, maxMs), atLeastMs) * (1 + Math.random() / 2);
}
