import { StartFault } from "@intermission/server/start-fault";
import type { FastifyRequest } from "fastify";
import { type CountryResponse, open, type Reader } from "maxmind";
import { countryOf } from "./audience.ts";

/** The source of users' countries: a header of a trusted proxy, or a file in MaxMind's format. */
export type CountrySettings = { kind: "none" } | { kind: "header"; header: string } | { kind: "file"; file: string };

type CountryRequest = Pick<FastifyRequest, "headers" | "ip" | "ips">;

/** The country of a request; null if it is unknown. */
export type CountrySource = (request: CountryRequest) => string | null;

/** Undefined without a source. A file that is replaced is read again; a missing or broken one is a fault at the start. */
export async function openCountrySource(settings: CountrySettings): Promise<CountrySource | undefined> {
  switch (settings.kind) {
    case "none":
      return undefined;
    case "header":
      return (request) => (isFromTrustedProxy(request) ? countryInHeader(request, settings.header) : null);
    case "file": {
      const reader = await openFile(settings.file);
      return ({ ip }) => countryOfAddress(reader, ip);
    }
    default:
      return settings satisfies never;
  }
}

/** Anyone can send a header. Fastify lists the addresses behind the connection's only if that one is a trusted proxy. */
function isFromTrustedProxy({ ips = [] }: CountryRequest): boolean {
  return ips.length > 1;
}

function countryInHeader({ headers }: CountryRequest, header: string): string | null {
  const value = headers[header.toLowerCase()];
  return typeof value === "string" ? (countryOf(value) ?? null) : null;
}

async function openFile(file: string): Promise<Reader<CountryResponse>> {
  try {
    const reader = await open<CountryResponse>(file, { watchForUpdates: true, watchForUpdatesNonPersistent: true });
    // A file without countries, such as one of networks, would make every country unknown.
    if (!/country|city|enterprise/i.test(reader.metadata.databaseType))
      throw new Error(`it is of ${reader.metadata.databaseType}`);
    return reader;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartFault(
      `COUNTRY_DATABASE names ${file}, which cannot be read as a database of countries in MaxMind's format (.mmdb): ${reason}`,
    );
  }
}

function countryOfAddress(reader: Reader<CountryResponse>, address: string): string | null {
  try {
    const found = reader.get(address);
    return countryOf(found?.country?.iso_code ?? found?.registered_country?.iso_code) ?? null;
  } catch {
    // Text that is no address.
    return null;
  }
}
