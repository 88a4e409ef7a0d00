import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "./say.ts";

/** The secrets of the demo, which acts as publisher, operator and Telegram. Made on this machine, stored in its data folder. */
export interface DemoSecrets {
  readonly botId: string;
  readonly telegramBotToken: string;
  readonly telegramPublicKey: string;
  readonly telegramPrivateKey: string;
  readonly encryptionKey: string;
  readonly operatorToken: string;
  readonly backendApiKey: string;
  /** The demo bot's token for the ad service; set after seeding. */
  readonly adApiToken?: string;
  /** API tokens of bots of one's own (`npm start -- --bot`), by the bots' ids. */
  readonly ownBots?: Readonly<Record<string, string>>;
  /** The addresses used for seeding. If the ports change, the demo is seeded again. */
  readonly seededFor?: string;
  /** The sample traffic was added once: whoever removed it does not get it again. */
  readonly hasSample?: boolean;
}

const demoBotId = "7000000001";

function newSecrets(): DemoSecrets {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    botId: demoBotId,
    telegramBotToken: `${demoBotId}:${randomBytes(26).toString("base64url")}`,
    // The last 32 bytes of an Ed25519 SubjectPublicKeyInfo are the raw key (RFC 8410, section 4).
    telegramPublicKey: publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("hex"),
    telegramPrivateKey: privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
    encryptionKey: randomBytes(32).toString("base64"),
    operatorToken: randomBytes(32).toString("base64url"),
    backendApiKey: randomBytes(32).toString("base64url"),
  };
}

/** Reads the secrets of a data folder, or makes them there (mode 0600). */
export function demoSecrets(dataDirectory: string): DemoSecrets {
  const file = join(dataDirectory, "demo-secrets.json");
  if (existsSync(file)) return keptSecrets(file);
  const secrets = newSecrets();
  keepDemoSecrets(dataDirectory, secrets);
  return secrets;
}

function keptSecrets(file: string): DemoSecrets {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Problem(
      `${file} cannot be read: ${error instanceof Error ? error.message : error}`,
      "Make it readable for this user, or start with a new folder: DATA_DIR=/path/to/folder npm start",
    );
  }
}

export function keepDemoSecrets(dataDirectory: string, secrets: DemoSecrets): void {
  const file = join(dataDirectory, "demo-secrets.json");
  try {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new Problem(
      `The data folder ${dataDirectory} cannot be written: ${error instanceof Error ? error.message : error}`,
      "Make it writable for this user, or choose another folder: DATA_DIR=/path/to/folder npm start",
    );
  }
}
