import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Database } from "@intermission/postgres/open-database";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { MediaStorage } from "../creatives/media-storage.ts";
import { folderOf } from "./publish-log.ts";
import { findLog, tileBytes } from "./read-log.ts";
import { hasTile, readTilePath, TILE_WIDTH, tilePath } from "./tiles.ts";

const FOREVER = "public, max-age=31536000, immutable";

interface LogFiles {
  database: Database;
  media: Pick<MediaStorage, "open">;
}

/**
 * `GET /log/checkpoint` and `/log/tile/…`: the log of billed events for whoever verifies it (C2SP tlog-tiles). A log that was
 * begun anew has an address of its own, as `/log-2/checkpoint`, since tiles are cached forever.
 */
export function billingLogRoutes(app: FastifyInstance, deps: LogFiles): void {
  app.register(async (scope) => {
    scope.addHook("onRequest", async (_request, reply) => {
      reply.header("access-control-allow-origin", "*");
      reply.header("cross-origin-resource-policy", "cross-origin");
      reply.header("x-content-type-options", "nosniff");
    });
    const logIdOf = ({ logId }: { logId?: string }) => (logId === undefined ? 1 : Number(logId));
    for (const prefix of ["/log", "/log-:logId(^[2-9]$|^[1-9]\\d{1,5}$)"]) {
      scope.get<{ Params: { logId?: string } }>(`${prefix}/checkpoint`, (request, reply) =>
        sendCheckpoint(deps, logIdOf(request.params), reply),
      );
      scope.get<{ Params: { logId?: string; "*": string } }>(`${prefix}/tile/*`, (request, reply) => {
        const { "*": path, ...params } = request.params;
        const of = { path: `tile/${path}`, logId: logIdOf(params), accepted: request.headers["accept-encoding"] };
        return sendTile(deps, of, reply);
      });
    }
  });
}

async function sendCheckpoint({ database }: LogFiles, logId: number, reply: FastifyReply): Promise<FastifyReply> {
  const checkpoint = (await findLog(database, logId))?.checkpoint ?? undefined;
  if (checkpoint === undefined) {
    reply.callNotFound();
    return reply;
  }
  reply.header("cache-control", "public, max-age=2");
  return reply.type("text/plain; charset=utf-8").send(checkpoint);
}

async function sendTile(
  { database, media }: LogFiles,
  { path, logId, accepted }: { path: string; logId: number; accepted: string | string[] | undefined },
  reply: FastifyReply,
): Promise<FastifyReply> {
  const name = readTilePath(path);
  const log = name && (await findLog(database, logId));
  if (!name || !log || !hasTile(name, log.publishedSize)) {
    reply.callNotFound();
    return reply;
  }
  const file = name.width === TILE_WIDTH ? await readFile(media, `${folderOf(log)}/${tilePath(name)}`) : undefined;
  const bytes = file ?? (await tileBytes(database, logId, name));
  // Once they are there: an error must not be kept for ever.
  reply.header("cache-control", FOREVER).type("application/octet-stream");
  return name.level === "entries" ? sendCompressed(bytes, accepted, reply) : reply.send(bytes);
}

/** Undefined where the file is gone, or its storage does not answer: the database has the same bytes. */
async function readFile(media: Pick<MediaStorage, "open">, name: string): Promise<Buffer | undefined> {
  try {
    const found = await (await media.open(name))?.read(undefined);
    if (found === undefined) return undefined;
    const parts: Buffer[] = [];
    for await (const part of found.body) parts.push(Buffer.from(part));
    return Buffer.concat(parts);
  } catch {
    return undefined;
  }
}

/** Entries are text that gets a fifth as long. */
async function sendCompressed(
  bytes: Buffer,
  accepted: string | string[] | undefined,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.header("vary", "accept-encoding");
  if (!/\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(String(accepted ?? ""))) return reply.send(bytes);
  return reply.header("content-encoding", "gzip").send(await promisify(gzip)(bytes));
}
