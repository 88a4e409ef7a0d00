import { hasUserInfo } from "@intermission/ad-core/web-address";
import { z } from "zod";

/** An address that this service or the mini-app calls. Whether it may be reached is decided when it is called. */
export const callableAddress = z
  .url({ protocol: /^https?$/, error: "must be an address as https://example.com/webhooks" })
  .max(2048)
  .refine((address) => !hasUserInfo(address), "must not hold a user name or password")
  .refine((address) => !address.includes("#"), "must not hold a fragment");
