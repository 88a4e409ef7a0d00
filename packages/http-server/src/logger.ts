import { destination, type Logger, pino, stdSerializers } from "pino";

export type { Logger };

/** Never written, wherever they stand in a logged object: what would let a reader act as somebody else. */
const secretFields = [
  "authorization",
  "cookie",
  "token",
  "init_data",
  "initData",
  "secret",
  "x-signature",
  "webhook-signature",
];
const redactedPaths = [
  ...secretFields.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.headers["${name}"]`]),
  // A direct link's code. Not one level down: there `code` is the SQLSTATE or errno of an error.
  "code",
];

/**
 * JSON lines on standard output. The destination is synchronous: a line that was logged before a crash is there after it.
 * Requests are logged by their path without its query.
 */
export function createLogger(options: { readonly level: string; readonly name: string }): Logger {
  return pino(
    {
      level: options.level,
      base: { name: options.name },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: { paths: redactedPaths, censor: "[redacted]" },
      serializers: {
        err: stdSerializers.err,
        req: (request: { method?: string; id?: string }) => ({ method: request.method, id: request.id }),
      },
    },
    destination({ dest: 1, sync: true }),
  );
}
