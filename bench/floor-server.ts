/** The floor of the HTTP paths: Fastify with the same answers and no database. */
import { createHash, randomBytes } from "node:crypto";
import Fastify from "fastify";

const app = Fastify();
const expiresAt = "2030-01-01T00:00:00Z";

app.post("/client/v1/codes", async (request) => {
  createHash("sha256")
    .update(request.headers.authorization ?? "")
    .digest();
  return { code: randomBytes(12).toString("hex").slice(0, 16), expires_in: 3600, expires_at: expiresAt };
});
app.get("/:code", async (_request, reply) =>
  reply
    .header("cache-control", "no-store")
    .header("x-robots-tag", "noindex")
    .header("referrer-policy", "no-referrer")
    .redirect("https://advertiser.example/landing?click=0123456789abcdef", 302),
);
app.post("/webhooks/ads", async () => ({ outcome: "booked" }));

const address = await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT) });
console.log(JSON.stringify({ msg: "listening", url: address }));
process.once("SIGTERM", () => void app.close().then(() => process.exit(0)));
