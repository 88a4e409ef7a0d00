/** Import rules. ARCHITECTURE.md draws them; scripts/check-imports.ts runs them and tests each one with a planted violation. */
const servers = "^apps/(ad-service|api|demo-bot)/src/";
/** Entry points. */
const entries = [
  "^apps/[^/]+/src/(main|cli|start-failure|(gallery|preview|in-app|tasks)/main|in-app/(sdk|adsgram-names|monetag-names))[.]tsx?$",
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "apps-never-import-apps",
      comment: "Apps share only the wire contract, and the types of the companion API's router.",
      severity: "error",
      from: { path: "^apps/([^/]+)/" },
      to: { path: "^apps/", pathNot: ["^apps/$1/", "^apps/api/src/router[.]ts$"] },
    },
    {
      name: "router-is-imported-as-types-only",
      comment: "Write `import type { AppRouter }`: a value import would pull a server into a client.",
      severity: "error",
      from: { path: "^(apps|packages)/", pathNot: "^apps/api/" },
      to: { path: "^apps/api/src/router[.]ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "packages-never-import-apps",
      comment: "Apps may import packages; packages must not import apps. The publisher publishes the router's type.",
      severity: "error",
      from: { path: "^packages/", pathNot: "^packages/publisher/src/companion-router[.]ts$" },
      to: { path: "^apps/" },
    },
    {
      name: "ad-core-imports-nothing-of-ours",
      comment: "ad-core depends on no other package of this repository: no I/O, no environment, no clock.",
      severity: "error",
      from: { path: "^packages/ad-core/src/", pathNot: "[.]test[.]ts$" },
      to: { path: "^(packages/(?!ad-core/)|apps/)" },
    },
    {
      name: "ad-core-core-modules",
      comment: "Only signature.ts and telegram-init-data.ts may import a Node module: node:crypto.",
      severity: "error",
      from: { path: "^packages/ad-core/src/", pathNot: "([.]test[.]ts|/(signature|telegram-init-data)[.]ts)$" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "ad-core-crypto-only",
      comment: "signature.ts and telegram-init-data.ts may import node:crypto and no other Node module.",
      severity: "error",
      from: { path: "^packages/ad-core/src/(signature|telegram-init-data)[.]ts$" },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?crypto$" },
    },
    {
      name: "miniapp-without-secrets",
      comment: "Code that signs or verifies runs only on servers.",
      severity: "error",
      from: { path: "^apps/miniapp/src/" },
      to: { path: "^packages/ad-core/src/(signature|telegram-init-data)[.]ts$" },
    },
    {
      name: "miniapp-without-zod",
      comment:
        "Import only types from ad-core, or captions.ts, page-language.ts, ad-preview.ts, frame-in-view.ts and report-steps.ts, which need no zod: zod would double the first load.",
      severity: "error",
      from: { path: "^apps/miniapp/src/" },
      to: {
        path: "(^packages/ad-core/src/(?!(captions|page-language|ad-preview|frame-in-view|report-steps)[.]ts$)|node_modules/(zod|superjson)/)",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "transports-in-app-and-router",
      comment: "Only app.ts and router.ts may import routes or procedures.",
      severity: "error",
      from: { path: servers, pathNot: "(/src/(app|router)[.]ts|routes[.]ts|[.]test[.]ts)$" },
      to: { path: "^apps/[^/]+/src/.*/((client|player|operator)-)?(routes|procedures)[.]ts$" },
    },
    {
      name: "nothing-imports-main",
      comment: "main.ts starts a server; importing it would start one.",
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
      comment: "Send HTTP requests only with outbound/guarded-request.ts and the companion API's ad-service-client.ts.",
      severity: "error",
      from: {
        path: "^(apps/(ad-service|api)|packages)/",
        pathNot: [
          "^apps/ad-service/src/outbound/",
          "^apps/api/src/ad-service-client[.]ts$",
          "[.]test[.]ts$",
          "^(apps/api|packages/server)/src/operator-client[.]ts$",
        ],
      },
      to: { path: "node_modules/undici/" },
    },
    {
      name: "one-door-for-the-telegram-sdk",
      comment: "Only miniapp/src/telegram/ may import the Telegram SDK.",
      severity: "error",
      from: { path: "^apps/miniapp/src/", pathNot: "^apps/miniapp/src/telegram/" },
      to: { path: "node_modules/@telegram-apps/" },
    },
    {
      name: "no-grab-bags",
      comment:
        "Name a file after what it does, not utils, helpers, common, misc or types; apps have no barrel index.ts.",
      severity: "error",
      from: {},
      to: { path: "^(apps|packages)/.*/(utils?|helpers?|common|misc|types|index)([.]tsx?|/)", pathNot: "node_modules" },
    },
    {
      name: "no-cycles",
      comment: "Files must not import each other in a cycle.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-test-code-in-src",
      comment: "Code that only tests import belongs in test/ beside src, or in packages/testing.",
      severity: "error",
      from: {
        path: entries,
      },
      to: {
        path: "^(apps|packages/(ad-core|server|postgres))/.*[.]tsx?$",
        pathNot: [...entries, "^apps/[^/]+/(test|build|public)/", "[.](test|config)[.]tsx?$"],
        reachable: false,
      },
    },
    {
      name: "no-unresolved",
      comment: "The import cannot be resolved.",
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
