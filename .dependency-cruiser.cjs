/** Who may import whom. ARCHITECTURE.md draws it; scripts/check-imports.ts runs it and proves each rule with a planted violation. */
const servers = "^apps/(ad-service|api|demo-bot)/src/";
/** Programs; the engine runs in a worker. */
const entries = ["^apps/[^/]+/src/(main|cli|gallery/main)[.]tsx?$", "^packages/postgres/src/embedded-engine[.]ts$"];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "apps-never-import-apps",
      comment: "Parts meet on the wire contract. Only the types of the companion API's router may be shared.",
      severity: "error",
      from: { path: "^apps/([^/]+)/" },
      to: { path: "^apps/", pathNot: ["^apps/$1/", "^apps/api/src/router[.]ts$"] },
    },
    {
      name: "router-is-imported-as-types-only",
      comment: "Write `import type { AppRouter }`: a value import would pull a server into a client.",
      severity: "error",
      from: { path: "^apps/", pathNot: "^apps/api/" },
      to: { path: "^apps/api/src/router[.]ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "packages-never-import-apps",
      comment: "Arrows run down: apps know packages, packages know no app.",
      severity: "error",
      from: { path: "^packages/" },
      to: { path: "^apps/" },
    },
    {
      name: "ad-core-imports-nothing-of-ours",
      comment: "ad-core is the shared language: no I/O, no environment, no clock.",
      severity: "error",
      from: { path: "^packages/ad-core/src/", pathNot: "[.]test[.]ts$" },
      to: { path: "^(packages/(?!ad-core/)|apps/)" },
    },
    {
      name: "ad-core-core-modules",
      comment: "Only signature.ts and telegram-init-data.ts may use node:crypto; nothing else of Node's.",
      severity: "error",
      from: { path: "^packages/ad-core/src/", pathNot: "([.]test[.]ts|/(signature|telegram-init-data)[.]ts)$" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "ad-core-crypto-only",
      comment: "signature.ts and telegram-init-data.ts may use node:crypto and nothing else of Node's.",
      severity: "error",
      from: { path: "^packages/ad-core/src/(signature|telegram-init-data)[.]ts$" },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?crypto$" },
    },
    {
      name: "miniapp-without-secrets",
      comment: "What signs and verifies stays on servers.",
      severity: "error",
      from: { path: "^apps/miniapp/src/" },
      to: { path: "^packages/ad-core/src/(signature|telegram-init-data)[.]ts$" },
    },
    {
      name: "miniapp-without-zod",
      comment: "Import types only from ad-core, and captions.ts, which needs no zod: zod would double the first load.",
      severity: "error",
      from: { path: "^apps/miniapp/src/" },
      to: {
        path: "(^packages/ad-core/src/(?!captions[.]ts$)|node_modules/(zod|superjson)/)",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "transports-in-app-and-router",
      comment: "Only app.ts and router.ts may import routes.ts or procedures.ts.",
      severity: "error",
      from: { path: servers, pathNot: "(/src/(app|router)[.]ts|[.]test[.]ts)$" },
      to: { path: "^apps/[^/]+/src/.*/(routes|procedures)[.]ts$" },
    },
    {
      name: "nothing-imports-main",
      comment: "main.ts starts a server; nothing is built on it.",
      severity: "error",
      from: {},
      to: { path: "^apps/[^/]+/src/main[.]tsx?$" },
    },
    {
      name: "verbs-know-no-config",
      comment: "Configuration is parsed once and passed as plain values by main.ts.",
      severity: "error",
      from: { path: servers, pathNot: "(/src/(main|config|cli)[.]ts|[.]test[.]ts)$" },
      to: { path: "/src/config[.]ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "one-door-for-outgoing-http",
      comment: "Outgoing HTTP leaves by outbound/guarded-request.ts, and by the companion API's ad-service-client.ts.",
      severity: "error",
      from: {
        path: "^(apps/(ad-service|api)|packages)/",
        pathNot: [
          "^apps/ad-service/src/outbound/",
          "^apps/api/src/ad-service-client[.]ts$",
          "[.]test[.]ts$",
          "operator/operator-client[.]ts$",
        ],
      },
      to: { path: "node_modules/undici/" },
    },
    {
      name: "one-door-for-the-telegram-sdk",
      comment: "The Telegram SDK lives behind miniapp/src/telegram/.",
      severity: "error",
      from: { path: "^apps/miniapp/src/", pathNot: "^apps/miniapp/src/telegram/" },
      to: { path: "node_modules/@telegram-apps/" },
    },
    {
      name: "no-grab-bags",
      comment:
        "Name a file after what it does; nothing is called utils, helpers, common, misc or types, and apps have no barrel index.ts.",
      severity: "error",
      from: {},
      to: { path: "^(apps|packages)/.*/(utils?|helpers?|common|misc|types|index)([.]tsx?|/)", pathNot: "node_modules" },
    },
    {
      name: "no-cycles",
      comment: "Files import one another in one direction.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-test-code-in-src",
      comment: "What only tests import lies in test/ beside src, or in packages/testing.",
      severity: "error",
      from: {
        path: entries,
      },
      to: {
        path: "^(apps|packages/(ad-core|http-server|postgres))/.*[.]tsx?$",
        pathNot: [...entries, "^apps/[^/]+/(test|build|public)/", "[.](test|config)[.]tsx?$"],
        reachable: false,
      },
    },
    {
      name: "no-unresolved",
      comment: "The import leads nowhere.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(apps|packages)/[^/]+/(dist|data)/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "node", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".json", ".css"],
    },
  },
};
