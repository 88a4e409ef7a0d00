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
  "code",
  "*.code",
];

/** A direct link's code: letters and digits alone, which no SQLSTATE and no errno fills with. */
const LINK_CODE = /^[0-9A-Za-z]{16,}$/;

/** `code` has three meanings: a number is VAST's or HTTP's, one in an error says what failed, any other text is a link's. */
function censor(value: unknown, path: string[]): unknown {
  if (path.at(-1) !== "code") return "[redacted]";
  if (typeof value === "number") return value;
  return path.length > 1 && !LINK_CODE.test(String(value)) ? value : "[redacted]";
}

/** PostgreSQL quotes the values of the row in these. */
const quotingFields = ["detail", "where", "internalQuery"] as const;

function withoutValues(error: Error) {
  const serialized = stdSerializers.err(error);
  for (const field of quotingFields) delete serialized[field];
  return serialized;
}

/**
 * JSON lines on standard output. The destination is synchronous: a line that was logged before a crash is there after it.
 * Requests are logged by their path without its query.
 */
export function createLogger(options: {
  readonly level: string;
  readonly name: string;
  /** Takes each line instead of standard output. */
  readonly write?: (line: string) => void;
}): Logger {
  const { write } = options;
  return pino(
    {
      level: options.level,
      base: { name: options.name },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: { paths: redactedPaths, censor },
      serializers: {
        err: withoutValues,
        req: (request: { method?: string; id?: string }) => ({ method: request.method, id: request.id }),
      },
    },
    write ? { write } : destination({ dest: 1, sync: true }),
  );
}
