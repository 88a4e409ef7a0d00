import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** How an answer differs from what an honest browser and authenticator make. */
export interface Deviation {
  challenge?: string;
  origin?: string;
  rpId?: string;
  isVerified?: boolean;
  signCount?: number;
}

export type SoftwareAuthenticator = ReturnType<typeof openSoftwareAuthenticator>;

/** An authenticator with one passkey (ES256), and the browser around it: answers as `toJSON` of Web Authentication has them. */
export function openSoftwareAuthenticator({ origin }: { origin: string }) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomBytes(32);
  const rpId = new URL(origin).hostname;
  const head = { id: text(id), rawId: text(id), type: "public-key" as const, clientExtensionResults: {} };
  const state = { signCount: 0, userHandle: "" };

  const clientData = (type: string, { challenge }: { challenge: string }, deviation: Deviation) =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: deviation.challenge ?? challenge,
        origin: deviation.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (flags: number, deviation: Deviation, more = Buffer.alloc(0)) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(deviation.signCount ?? state.signCount);
    const verified = deviation.isVerified === false ? 0 : USER_VERIFIED;
    const rp = createHash("sha256")
      .update(deviation.rpId ?? rpId)
      .digest();
    return Buffer.concat([rp, Buffer.of(flags | USER_PRESENT | verified), counter, more]);
  };

  return {
    state,
    register(options: { challenge: string; user: { id: string } }, deviation: Deviation = {}) {
      state.userHandle = options.user.id;
      const length = Buffer.of(0, id.byteLength);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseOf(publicKey)]);
      const data = authenticatorData(HAS_CREDENTIAL, deviation, credential);
      return {
        ...head,
        response: {
          clientDataJSON: text(clientData("webauthn.create", options, deviation)),
          attestationObject: text(attestationOf(data)),
          transports: ["internal", "of-the-future"],
        },
      };
    },
    sign(options: { challenge: string }, deviation: Deviation = {}) {
      state.signCount += 1;
      const data = authenticatorData(0, deviation);
      const client = clientData("webauthn.get", options, deviation);
      const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
      return {
        ...head,
        response: {
          clientDataJSON: text(client),
          authenticatorData: text(data),
          signature: text(sign("sha256", signed, privateKey)),
          userHandle: state.userHandle,
        },
      };
    },
  };
}

/** A P-256 key as a COSE map (RFC 9053): {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
function coseOf(publicKey: KeyObject): Buffer {
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const [bytesOfX, bytesOfY] = [x, y].map((part) => Buffer.from(part, "base64url"));
  const heads = ["a5010203262001215820", "225820"].map((hex) => Buffer.from(hex, "hex"));
  return Buffer.concat([heads[0], bytesOfX, heads[1], bytesOfY].filter((part) => part !== undefined));
}

/** {"fmt": "none", "attStmt": {}, "authData": …} in CBOR. */
function attestationOf(data: Buffer): Buffer {
  const key = (name: string) => Buffer.concat([Buffer.of(0x60 + name.length), Buffer.from(name)]);
  const fields = [key("fmt"), key("none"), key("attStmt"), Buffer.of(0xa0), key("authData")];
  return Buffer.concat([Buffer.of(0xa3), ...fields, Buffer.of(0x58, data.byteLength), data]);
}

function text(bytes: Buffer): string {
  return bytes.toString("base64url");
}
