/** The type of the companion API's tRPC router, for `createTRPCClient<AppRouter>` of `@trpc/client`. */
export type { AppRouter } from "../../../apps/api/src/router.ts";
