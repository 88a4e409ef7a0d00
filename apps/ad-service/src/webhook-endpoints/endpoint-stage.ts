import type { AdDatabase } from "../ad-database.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import { startedDeliveries, testSecretBox } from "../webhook-delivery/delivery-stage.ts";
import { openEndpointTests } from "./test-endpoint.ts";
import { startTestingEndpoints } from "./test-pending-endpoints.ts";

const silent = () => {};

/** Tests of endpoints on loopback. For tests. */
export function openTestsOfEndpoints(database: AdDatabase) {
  const log = { info: silent, warn: silent, error: silent };
  const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { webhook: ["127.0.0.0/8"] } });
  const endpointTests = openEndpointTests({
    database,
    deliveries: startedDeliveries(database),
    secretBox: testSecretBox,
    requests,
    log,
  });
  let loop: { stop(): Promise<void> } | undefined;
  return {
    testEndpoint: endpointTests.testEndpoint,
    activatePending() {
      loop = startTestingEndpoints({ database, endpointTests, log });
    },
    async stop() {
      endpointTests.stop();
      await loop?.stop();
      await requests.close();
    },
  };
}
