/**
 * Prints the manifests of `deploy/kubernetes` with the values of a deployment: `npm run kubernetes values.yaml`, for
 * `kubectl apply -f -`. A value that a server would refuse at its start is refused here.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments, stringify, YAMLParseError } from "yaml";
import { type KubernetesValues, valuesSchema } from "./kubernetes-values.ts";
import { root } from "./processes.ts";
import { explain, Problem } from "./say.ts";

type Server = "ad-service" | "api";

/** The fields that this script sets; kubernetes.test.ts checks the whole output. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; namespace?: string };
  readonly data?: Record<string, string>;
  readonly spec?: {
    minReplicas?: number;
    maxReplicas?: number;
    schedule?: string;
    gatewayClassName?: string;
    ingressClassName?: string;
    readonly rules?: { sessionPersistence?: unknown }[];
    readonly resources?: { readonly requests: { storage: string } };
    readonly template?: { readonly metadata: { annotations?: Record<string, string> }; readonly spec: PodSpec };
  };
}

interface PodSpec {
  terminationGracePeriodSeconds: number;
  readonly containers: {
    image: string;
    readonly env: { name: string; value: string }[];
    readonly resources: { readonly limits: { memory: string } };
  }[];
}

export function readValues(text: string): KubernetesValues {
  const { data: values, error } = valuesSchema.safeParse(parse(text));
  if (values !== undefined) return values;
  const faults = error.issues.map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
  throw new Problem(
    `The values are not those of a deployment:\n    ${faults.join("\n    ")}`,
    "deploy/kubernetes/values.yaml is a sample; its schema is values.schema.json beside it.",
  );
}

/** In the order in which they are applied. */
export function manifestsOf(values: KubernetesValues): Manifest[] {
  const entry = values.entry.kind === "gateway" ? gatewayManifests(values) : ingressManifests(values);
  const all = [
    ...serverManifests("ad-service", values),
    ...serverManifests("api", values),
    ...entry,
    ...backup(values),
  ];
  const { namespace } = values;
  if (namespace !== undefined) for (const manifest of all) manifest.metadata.namespace = namespace;
  return all;
}

const manifestsIn = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(join(root, "deploy/kubernetes", file), "utf8")).map((one) => one.toJS());

function serverManifests(server: Server, values: KubernetesValues): Manifest[] {
  const { settings, replicas, memory, secretSettings } = values[server === "api" ? "api" : "adService"];
  const { hosts, bucket } = values;
  const rewards = `https://${hosts.rewards}`;
  const own =
    server === "api"
      ? { MINIAPP_URL: `${rewards}/app`, DIRECT_LINK_URL: rewards }
      : {
          PUBLIC_URL: rewards,
          S3_ENDPOINT: bucket.endpoint,
          S3_BUCKET: bucket.name,
          ...(bucket.region !== undefined && { S3_REGION: bucket.region }),
        };
  const manifests = manifestsIn(`${server}.yaml`);
  let [drainSeconds, hash] = [0, ""];
  for (const { data, spec } of manifests) {
    if (data !== undefined) {
      Object.assign(data, own, settings);
      drainSeconds = Number(data.DRAIN_SECONDS);
      hash = createHash("sha256").update(JSON.stringify(data)).digest("hex").slice(0, 16);
    }
    if (spec?.maxReplicas !== undefined) Object.assign(spec, { minReplicas: replicas.min, maxReplicas: replicas.max });
    if (spec?.template === undefined) continue;
    // Running pods do not read a changed ConfigMap: another hash replaces them.
    spec.template.metadata.annotations = { "intermission/settings": hash };
    const pod = spec.template.spec;
    // After draining, work in progress has at most 20 s.
    pod.terminationGracePeriodSeconds = drainSeconds + 20;
    for (const container of pod.containers) {
      container.image = values.image;
      container.resources.limits.memory = memory;
      container.env.push(...secretSettings.map(secretFile));
    }
  }
  return manifests;
}

/** A file of the server's secret, named after the setting. */
const secretFile = (name: string) => ({
  name: `${name}_FILE`,
  value: `/run/secrets/intermission/${name.toLowerCase().replaceAll("_", "-")}`,
});

/** Replaces the sample hosts, which occur in several places of `gateway.yaml` and `ingress.yaml`. */
function withHosts(manifests: Manifest[], { hosts }: KubernetesValues): Manifest[] {
  const named = new Map([
    ["rewards.example.com", hosts.rewards],
    ["api.example.com", hosts.api],
  ]);
  return JSON.parse(JSON.stringify(manifests), (_, value) => named.get(value) ?? value);
}

function gatewayManifests(values: KubernetesValues): Manifest[] {
  const manifests = withHosts(manifestsIn("gateway.yaml"), values);
  for (const { spec } of manifests) {
    if (spec?.gatewayClassName !== undefined) spec.gatewayClassName = values.entry.className;
    if (values.entry.kind === "gateway" && !values.entry.sessionPersistence)
      for (const rule of spec?.rules ?? []) delete rule.sessionPersistence;
  }
  return manifests;
}

function ingressManifests(values: KubernetesValues): Manifest[] {
  const manifests = withHosts(manifestsIn("ingress.yaml"), values);
  for (const { spec } of manifests) if (spec !== undefined) spec.ingressClassName = values.entry.className;
  return manifests;
}

function backup(values: KubernetesValues): Manifest[] {
  if (values.backup === false) return [];
  const script = readFileSync(join(root, "deploy/back-up-postgres.sh"), "utf8");
  const manifests = manifestsIn("backup.yaml");
  for (const { spec } of manifests) {
    if (spec?.resources !== undefined) spec.resources.requests.storage = values.backup.storage;
    if (spec?.schedule !== undefined) spec.schedule = values.backup.schedule;
  }
  const data = { "back-up-postgres.sh": script };
  return [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "intermission-backup" }, data }, ...manifests];
}

/** kubectl reads YAML 1.1, in which an unquoted `on` is a boolean. */
export function textOf(manifests: readonly Manifest[]): string {
  return manifests.map((manifest) => stringify(manifest, { version: "1.1", lineWidth: 0 })).join("---\n");
}

function main(): void {
  const [file] = process.argv.slice(2);
  if (file === undefined)
    throw new Problem("The file of values is missing.", "Name it: npm run --silent kubernetes values.yaml");
  console.log(textOf(manifestsOf(readValues(readFile(file)))));
}

function readFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Problem(`${file} cannot be read: ${String(error)}`, "Copy deploy/kubernetes/values.yaml and fill it.");
  }
}

if (import.meta.main) {
  try {
    main();
  } catch (error) {
    explain(
      error instanceof YAMLParseError
        ? new Problem(`The values are no YAML: ${error.message}`, "Mend the named line.")
        : error,
    );
  }
}
