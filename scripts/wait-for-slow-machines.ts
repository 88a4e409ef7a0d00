import { vi } from "vitest";

/** As in `vitest.config.ts` for `expect.poll`: `vi.waitFor` and `vi.waitUntil` have no setting of their own. */
const TIMEOUT_MS = 20_000;

const { waitFor, waitUntil } = vi;
const options = (passed: Parameters<typeof waitFor>[1] = {}) =>
  typeof passed === "number" ? passed : { timeout: TIMEOUT_MS, ...passed };

vi.waitFor = (check, passed) => waitFor(check, options(passed));
vi.waitUntil = (check, passed) => waitUntil(check, options(passed));
