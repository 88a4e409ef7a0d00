import { onTestFinished } from "vitest";
import { type Answer, openSampleAdServer } from "./sample-ad-server.ts";

/** An advertiser's ad server for one test. */
export async function startAdServer(answers: Record<string, Answer>) {
  const server = await openSampleAdServer(answers);
  onTestFinished(server.close);
  return server;
}
