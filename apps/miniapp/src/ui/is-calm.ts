/** Motion is unwanted, or the phone is slow. */
export function isCalm(): boolean {
  const isSlow = document.documentElement.dataset.phone === "slow";
  return isSlow || matchMedia("(prefers-reduced-motion: reduce)").matches;
}
