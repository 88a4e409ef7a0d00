import { expect, test } from "vitest";
import { mistypedSettings, mistypedSettingsIn } from "./mistyped-settings.ts";

const known = {
  names: [
    ..."HOST PORT MODE CURRENCY DATABASE_URL DATA_DIR TRUST_PROXY DRAIN_SECONDS S3_ACCESS_KEY_ID SMTP_URL SMTP_FROM".split(
      " ",
    ),
    ..."OIDC_CLIENT_ID TELEGRAM_API_URL METRICS_HOST METRICS_PORT PUBLIC_URL BOT_ID AD_API_TOKENS ENCRYPTION_KEY".split(
      " ",
    ),
    ..."DATABASE_STATEMENT_TIMEOUT_SECONDS RETENTION_CODES_DAYS RETENTION_VIEWS_DAYS OTEL_TRACES_SAMPLER_ARG".split(
      " ",
    ),
    ..."OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS MINIAPP_DIR BOT_USERNAME".split(" "),
  ],
  secrets: ["DATABASE_URL", "ENCRYPTION_KEY", "AD_API_TOKENS"],
};
const meantBy = (written: string) => mistypedSettings({ [written]: "10" }, known).map(({ meant }) => meant);

test.each([
  ["RETENTION_CODE_DAYS", "RETENTION_CODES_DAYS"],
  ["DATABSE_URL", "DATABASE_URL"],
  ["DATABASE_URI", "DATABASE_URL"],
  ["TRUST_PROXI", "TRUST_PROXY"],
  ["TURST_PROXY", "TRUST_PROXY"],
  ["TRUST-PROXY", "TRUST_PROXY"],
  ["trust_proxy", "TRUST_PROXY"],
  ["MINI_APP_DIR", "MINIAPP_DIR"],
  ["PROT", "PORT"],
  ["CURENCY", "CURRENCY"],
  ["SMTP_FORM", "SMTP_FROM"],
  ["AD_API_TOKEN", "AD_API_TOKENS"],
  ["ENCRYPTON_KEY_FILE", "ENCRYPTION_KEY_FILE"],
  ["DATABASE_URL_FLIE", "DATABASE_URL_FILE"],
  ["DRAIN_MS", "DRAIN_SECONDS"],
  ["DATABASE_STATEMENT_TIMEOUT", "DATABASE_STATEMENT_TIMEOUT_SECONDS"],
  ["RETENTION_CODES", "RETENTION_CODES_DAYS"],
  ["RETENTION_EVENTS_DAYS", "RETENTION_VIEWS_DAYS"],
  ["OTEL_EXPORTER_OTLP_ENDPONT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
])("a mistyped setting is found: %s", (written, meant) => {
  expect(meantBy(written)).toEqual([meant]);
});

test("a setting, and what other programs read, is no mistake", () => {
  const others =
    "PATH HOME HOSTNAME HOSTTYPE PWD USER LOGNAME LANG TZ TERM SHELL MAIL NODE MODEL POST PORTS PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGSSLMODE " +
    "PGOPTIONS PGDATA NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_COMPILE_CACHE npm_config_registry npm_package_name INIT_CWD POSTGRES_URL POSTGRES_PASSWORD " +
    "DATABASE_USER DATABASE_NAME TEST_DATABASE_URL TELEGRAM_API_ID TELEGRAM_API_HASH SMTP_HOST SMTP_PORT SMTP_USER SMTP_PASS AWS_ACCESS_KEY_ID AWS_REGION " +
    "S3_HOST METRICS_PATH PUBLIC_DIR BOT_NAME BOT_API_URL HTTP_PROXY NO_PROXY OTEL_SERVICE_NAME OTEL_TRACES_SAMPLER OTEL_EXPORTER_OTLP_TIMEOUT " +
    "OTEL_EXPORTER_OTLP_INSECURE OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_TRACES_HEADERS OTEL_SDK_DISABLED " +
    "AD_SERVICE_PORT AD_SERVICE_SERVICE_HOST API_PORT KUBERNETES_PORT JOURNAL_STREAM INVOCATION_ID MAINPID CREDENTIALS_DIRECTORY WATCHDOG_USEC NO_COLOR CI";
  for (const written of [...others.split(" "), ...known.names, "DATABASE_URL_FILE"])
    expect([written, meantBy(written)]).toEqual([written, []]);
  expect(meantBy("")).toEqual([]);
  expect(mistypedSettings({ DATABSE_URL: "" }, known)).toEqual([]);
});

test("the token of a bot's own program is no mistake beside that of the companion API", () => {
  expect(mistypedSettings({ AD_API_TOKEN: "a", AD_API_TOKENS: "a" }, known)).toEqual([]);
});

test("a sentence names both and no value; a file in place of a setting that is no secret is explained", () => {
  expect(mistypedSettingsIn({ DATABSE_URL: "hush", PUBLIC_URL_FILE: "/run/url" }, known)).toEqual([
    "DATABSE_URL is set, and nothing reads it: did you mean DATABASE_URL?",
    "PUBLIC_URL_FILE is set, and nothing reads it: only a secret can be in a file; set PUBLIC_URL itself",
  ]);
});
