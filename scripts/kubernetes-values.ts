import { webAddressFault } from "@intermission/ad-core/web-address";
import { z } from "zod";
import * as adService from "../apps/ad-service/src/config.ts";
import * as api from "../apps/api/src/config.ts";

/** The values of a deployment on Kubernetes. `npm run fix` generates `deploy/kubernetes/values.schema.json` from them. */

const quantity = (example: string) =>
  z.string().regex(/^[1-9]\d*(\.\d+)?(Mi|Gi|Ti|M|G|T)$/, `must be a quantity of Kubernetes, such as ${example}`);

const hostname = z
  .string()
  .regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*$/, "must be a name such as rewards.example.com")
  .max(253);

const rewardsHost = hostname.refine((name) => !/^ads?[.-]/.test(name), {
  error: "must not begin with ad or ads: block lists refuse such names",
});

const className = z.string().min(1).describe("the class of your implementation");

/** The value in the manifests. */
const REQUESTED_MEMORY = "256Mi";

const units = { Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, M: 1e6, G: 1e9, T: 1e12 } as const;
const bytesOf = (text: string) =>
  Number.parseFloat(text) * (units[text.replace(/^[\d.]+/, "") as keyof typeof units] ?? 0);

/** Settings that the manifests or other values set. */
const DECIDED = [
  "MODE",
  "HOST",
  "PORT",
  "METRICS_HOST",
  "METRICS_PORT",
  "PUBLIC_URL",
  "MINIAPP_URL",
  "DIRECT_LINK_URL",
  "AD_SERVICE_URL",
  "DATA_DIR",
  "MEDIA_DIR",
  "S3_ENDPOINT",
  "S3_BUCKET",
  "S3_REGION",
];

interface Server {
  readonly settings: Readonly<Record<string, Pick<z.ZodType, "safeParse">>>;
  readonly secrets: readonly string[];
}

function serverValues({ settings, secrets }: Server) {
  const plain = Object.keys(settings).filter((name) => !secrets.includes(name) && !DECIDED.includes(name));
  return z
    .strictObject({
      replicas: z
        .strictObject({ min: z.int().min(1).default(2), max: z.int().min(1).default(6) })
        .refine(({ min, max }) => min <= max, { error: "max must be at least min" })
        .prefault({})
        .describe("the autoscaler's bounds; PostgreSQL's max_connections limits the number of nodes"),
      memory: quantity("768Mi")
        .refine((text) => bytesOf(text) >= bytesOf(REQUESTED_MEMORY), {
          error: `must be at least ${REQUESTED_MEMORY}, which a pod requests`,
        })
        .default("768Mi"),
      settings: z
        .partialRecord(z.enum(plain), z.string())
        .superRefine((values, context) => {
          for (const [name, value] of Object.entries(values))
            for (const { message } of settings[name]?.safeParse(value).error?.issues ?? [])
              context.addIssue({ code: "custom", path: [name], message });
        })
        .default({})
        .describe("settings of docs/settings.md, as texts"),
      secretSettings: z
        .array(z.enum(secrets))
        .default([])
        .describe("further settings whose files are in the server's secret: SMTP_URL is its file smtp-url"),
    })
    .prefault({});
}

export const valuesSchema = z.strictObject({
  image: z
    .string()
    .regex(/^[\w.-]+(:\d+)?(\/[\w.-]+)*(:[\w.-]+|@sha256:[0-9a-f]{64})$/, "must name an image with its tag or digest"),
  namespace: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "must be a name of Kubernetes")
    .optional(),
  hosts: z.strictObject({ rewards: rewardsHost, api: hostname }).describe("the two public names"),
  entry: z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("gateway"),
      className,
      sessionPersistence: z
        .boolean()
        .default(true)
        .describe("false where the implementation does not have it: then set its own cookie, or one replica"),
    }),
    z.strictObject({ kind: z.literal("ingress"), className: className.default("nginx") }),
  ]),
  bucket: z
    .strictObject({
      endpoint: z.string().refine((text) => webAddressFault(text, { isPlainHttpAllowed: true }) === undefined, {
        error: "must be an address such as https://s3.example.com",
      }),
      name: z.string().min(3),
      region: z.string().min(1).optional(),
    })
    .describe("the bucket of videos, of any S3-compatible service"),
  adService: serverValues(adService),
  api: serverValues(api),
  backup: z
    .union([
      z.literal(false),
      z.strictObject({
        schedule: z
          .string()
          .regex(/^(\S+ ){4}\S+$/, "must be a schedule of cron with five parts")
          .default("0 3 * * *"),
        storage: quantity("20Gi").default("20Gi"),
      }),
    ])
    .prefault({}),
});

export type KubernetesValues = z.infer<typeof valuesSchema>;

/** The text of `deploy/kubernetes/values.schema.json`: editors complete and check a file of values by it. */
export function valuesSchemaFile(): string {
  return `${JSON.stringify(z.toJSONSchema(valuesSchema, { io: "input" }), null, 2)}\n`;
}
