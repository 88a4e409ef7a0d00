import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Gateway, HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { CronJob } from "kubernetes-models/batch/v1";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, PersistentVolumeClaim, Service } from "kubernetes-models/v1";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { manifestsOf, readValues, textOf } from "./kubernetes.ts";
import { root } from "./processes.ts";

const read = (name: string) => readFileSync(join(root, "deploy/kubernetes", name), "utf8");

const kinds = {
  ConfigMap,
  Deployment,
  Service,
  PodDisruptionBudget,
  HorizontalPodAutoscaler,
  Ingress,
  Gateway,
  HTTPRoute,
  CronJob,
  PersistentVolumeClaim,
};

/** A parsed manifest of any kind. */
type Parsed = ReturnType<ReturnType<typeof parseAllDocuments>[number]["toJS"]>;

function validate(manifest: Parsed): void {
  const Kind = kinds[manifest.kind as keyof typeof kinds];
  expect(Kind, manifest.kind).toBeDefined();
  new Kind(manifest).validate();
  expect(manifest.apiVersion).toBe(Kind.apiVersion);
}

test.each(["ad-service.yaml", "api.yaml", "ingress.yaml", "gateway.yaml", "backup.yaml"])(
  "Kubernetes' schemas accept %s",
  (name) => {
    for (const document of parseAllDocuments(read(name))) validate(document.toJS());
    const deployment = { ...parseAllDocuments(read("api.yaml"))[1]?.toJS(), spec: { replicas: "two" } };
    expect(() => new Deployment(deployment).validate()).toThrow(/replicas/);
  },
);

describe("scripts/kubernetes.ts", () => {
  const sample = read("values.yaml");
  /** As kubectl reads them: YAML 1.1. */
  const applied = (values: string) =>
    parseAllDocuments(textOf(manifestsOf(readValues(values))), { version: "1.1" }).map((one) => one.toJS());
  const ofKind = (manifests: ReturnType<typeof applied>, kind: string, name: string) =>
    manifests.find((one) => one.kind === kind && one.metadata.name === name);

  const full = `
image: registry.example.org:5000/ads/intermission@sha256:${"a".repeat(64)}
namespace: ads
hosts: { rewards: win.example.org, api: bots.example.org }
entry: { kind: ingress }
bucket: { endpoint: "https://s3.example.org", name: videos, region: eu-1 }
adService:
  replicas: { min: 3, max: 9 }
  memory: 1Gi
  settings: { DRAIN_SECONDS: "25", TELEGRAM_TEST_SERVERS: "on" }
  secretSettings: [SMTP_URL]
backup: { schedule: "30 1 * * 0", storage: 100Gi }
`;

  test.each([
    ["the sample", sample],
    ["all values", full],
    [
      "a gateway without sessions, and no backup",
      sample.replace("className: example", "className: x\n  sessionPersistence: false\nbackup: false"),
    ],
  ])("Kubernetes' schemas accept what it prints with %s, and no example is left in it", (_, values) => {
    const manifests = applied(values);
    expect(manifests.length).toBeGreaterThan(10);
    for (const manifest of manifests) validate(manifest);
    if (values === full) expect(JSON.stringify(manifests)).not.toMatch(/example\.com|:0\.1\.0/);
  });

  test("each value is where it has effect", () => {
    const manifests = applied(full);
    for (const manifest of manifests) expect(manifest.metadata.namespace).toBe("ads");
    expect(ofKind(manifests, "ConfigMap", "ad-service").data).toMatchObject({
      PUBLIC_URL: "https://win.example.org",
      S3_ENDPOINT: "https://s3.example.org",
      S3_BUCKET: "videos",
      S3_REGION: "eu-1",
      DRAIN_SECONDS: "25",
      TELEGRAM_TEST_SERVERS: "on",
    });
    expect(ofKind(manifests, "ConfigMap", "api").data).toMatchObject({
      MINIAPP_URL: "https://win.example.org/app",
      DIRECT_LINK_URL: "https://win.example.org",
    });
    const { spec } = ofKind(manifests, "Deployment", "ad-service").spec.template;
    expect(spec.terminationGracePeriodSeconds).toBe(45);
    expect(spec.containers[0].image).toMatch(/^registry\.example\.org:5000\/ads\/intermission@sha256:a{64}$/);
    expect(spec.containers[0].resources.limits).toEqual({ memory: "1Gi" });
    expect(spec.containers[0].env).toContainEqual({
      name: "SMTP_URL_FILE",
      value: "/run/secrets/intermission/smtp-url",
    });
    expect(ofKind(manifests, "HorizontalPodAutoscaler", "ad-service").spec).toMatchObject({
      minReplicas: 3,
      maxReplicas: 9,
    });
    expect(ofKind(manifests, "HorizontalPodAutoscaler", "api").spec).toMatchObject({ minReplicas: 2, maxReplicas: 6 });
    expect(ofKind(manifests, "Ingress", "api").spec).toMatchObject({
      ingressClassName: "nginx",
      tls: [{ hosts: ["bots.example.org"] }],
      rules: [{ host: "bots.example.org" }],
    });
    expect(ofKind(manifests, "CronJob", "intermission-backup").spec.schedule).toBe("30 1 * * 0");
    const claim = ofKind(manifests, "PersistentVolumeClaim", "intermission-backups");
    expect(claim.spec.resources.requests.storage).toBe("100Gi");
    const script = ofKind(manifests, "ConfigMap", "intermission-backup").data["back-up-postgres.sh"];
    expect(script).toBe(readFileSync(join(root, "deploy/back-up-postgres.sh"), "utf8"));
  });

  test("a changed setting replaces the running pods of its server, and no others", () => {
    const hashOf = (values: string, server: string) =>
      ofKind(applied(values), "Deployment", server).spec.template.metadata.annotations["intermission/settings"];
    const changed = sample.replace("TRUST_PROXY: uniquelocal", "TRUST_PROXY: loopback");
    expect(hashOf(changed, "ad-service")).not.toBe(hashOf(sample, "ad-service"));
    expect(hashOf(changed, "api")).toBe(hashOf(sample, "api"));
  });

  test("the least memory is what the manifests request", () => {
    for (const server of ["ad-service", "api"]) {
      const { resources } = ofKind(applied(sample), "Deployment", server).spec.template.spec.containers[0];
      expect(resources.requests.memory).toBe("256Mi");
    }
  });

  test.each([
    ["image: intermission", /image: must name an image with its tag or digest/],
    ["hosts: { rewards: ads.example.org, api: x.example.org }", /hosts\.rewards: must not begin with ad or ads/],
    ["hosts: { rewards: https://win.example.org, api: x.example.org }", /hosts\.rewards: must be a name/],
    ["entry: { kind: traefik }", /entry\.kind: /],
    ["bucket: { endpoint: s3, name: videos }", /bucket\.endpoint: must be an address/],
    ["api: { memory: 128Mi }", /api\.memory: must be at least 256Mi/],
    ["api: { replicas: { min: 4, max: 2 } }", /api\.replicas: max must be at least min/],
    ["api: { settings: { DRAIN_SECONDS: soon } }", /api\.settings\.DRAIN_SECONDS: /],
    ["api: { settings: { DRAIN_SECOND: '5' } }", /DRAIN_SECOND/],
    ["api: { settings: { PORT: '80' } }", /PORT/],
    ["api: { settings: { ENCRYPTION_KEY: secret } }", /ENCRYPTION_KEY/],
    ["api: { secretSettings: [PORT] }", /api\.secretSettings\.0/],
    ["backup: { schedule: daily }", /backup/],
    ["replicas: 3", /replicas/],
  ])("it refuses %s by its place", (line, message) => {
    const [key = ""] = line.split(":");
    const others = sample.replace(new RegExp(`^${key}:.*\n(?: .*\n)*`, "m"), "");
    expect(() => readValues(`${others}${line}\n`)).toThrow(message);
  });

  test("a file that is missing or no YAML is named, with the next step", () => {
    const printed = (file: string) => {
      const { status, stderr } = spawnSync(process.execPath, ["scripts/kubernetes.ts", file], {
        cwd: root,
        encoding: "utf8",
      });
      return { status, stderr };
    };
    expect(printed("no-such.yaml")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/no-such\.yaml cannot be read.*\n.*Copy/),
    });
    expect(printed("deploy/Dockerfile")).toMatchObject({ status: 1, stderr: expect.stringContaining("✗") });
  });
});
