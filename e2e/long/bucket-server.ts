/**
 * Stands in for `versitygw --port :<port> posix <folder>`, whose image cannot be pulled here: a server of the same protocol,
 * with the same arguments, keys and buckets.
 */
import S3rver from "s3rver";
import { DUMMY_ACCOUNT } from "s3rver/lib/models/account.js";

const [, , ...words] = process.argv;
const [, port, directory] = /^--port :(\d+) posix (\S+)$/.exec(words.join(" ")) ?? [];
const { ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey } = process.env;
if (!port || !directory || !accessKeyId || !secretAccessKey)
  throw new Error(`usage: ROOT_ACCESS_KEY_ID= ROOT_SECRET_ACCESS_KEY= --port :<port> posix <folder>, not ${words}`);

DUMMY_ACCOUNT.revokeAccessKey("S3RVER");
DUMMY_ACCOUNT.createKeyPair(accessKeyId, secretAccessKey);
const server = new S3rver({ address: "0.0.0.0", port: Number(port), directory, silent: true, vhostBuckets: false });
await server.run();
process.once("SIGTERM", () => void server.close());
