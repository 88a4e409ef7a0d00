import { getRouteApi } from "@tanstack/react-router";
import { AdvertiserAccount } from "./advertiser-account.tsx";

const route = getRouteApi("/shell/advertisers/$advertiserId");

export function AdvertiserScreen() {
  const { advertiserId } = route.useParams();
  return <AdvertiserAccount advertiserId={advertiserId} />;
}
