import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askServer, startOtherCluster } from "@intermission/testing/copy-database";
import { startTemporaryCluster } from "@intermission/testing/temporary-cluster";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "./open-database.ts";
import { faultOfServer } from "./server-faults.ts";
import { StoreFault, unavailabilityOf } from "./store-faults.ts";

let cluster: Awaited<ReturnType<typeof startOtherCluster>>;
let folder: string;
beforeAll(async () => {
  cluster = await startOtherCluster();
  folder = mkdtempSync(join(tmpdir(), "database-tls-"));
  writeFileSync(join(folder, "empty.pem"), "no certificate\n");
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes a certificate that is its own authority, and returns the paths of both files. */
function certificate(name: string, { host = "IP:127.0.0.1", from = "20200101", until = "21200101" } = {}) {
  const at = (ending: string) => join(folder, `${name}.${ending}`);
  const settings = [
    "[ca]",
    "default_ca=it",
    "[it]",
    `database=${at("index")}`,
    `new_certs_dir=${folder}`,
    "rand_serial=yes",
    "default_md=sha256",
    "policy=names",
    "x509_extensions=more",
    "[names]",
    "commonName=supplied",
    "[more]",
    `subjectAltName=${host}`,
    "basicConstraints=CA:TRUE",
    "",
  ];
  writeFileSync(at("index"), "");
  writeFileSync(at("cnf"), settings.join("\n"));
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", at("key")];
  openssl("req", "-new", ...newKey, "-subj", `/CN=${name}`, "-out", at("csr"));
  const times = ["-startdate", `${from}000000Z`, "-enddate", `${until}000000Z`];
  openssl(
    "ca",
    "-batch",
    "-selfsign",
    "-notext",
    "-config",
    at("cnf"),
    "-keyfile",
    at("key"),
    "-in",
    at("csr"),
    ...times,
    "-out",
    at("pem"),
  );
  return { key: at("key"), cert: at("pem") };
}

function openssl(...words: readonly string[]): void {
  execFileSync("openssl", words, { stdio: ["ignore", "ignore", "pipe"] });
}

/** The server writes the files itself: they must belong to its user, and only to it. */
async function serve({ key, cert }: { key: string; cert: string }): Promise<void> {
  const write = (path: string, file: string) =>
    askServer(
      cluster.url,
      `copy (select unnest(string_to_array('${readFileSync(path, "utf8").trim()}', E'\\n'))) to program 'umask 077; cat > ${file}'`,
    );
  await write(key, "server.key");
  await write(cert, "server.crt");
  await askServer(cluster.url, "alter system set ssl = on");
  await askServer(cluster.url, "select pg_reload_conf()");
}

/** The message of the fault, or "opened". */
async function outcomeAt(databaseUrl: string): Promise<string> {
  try {
    await (await openDatabase({ databaseUrl, dataDirectory: "", schema: "tls", migrations: {} })).close();
    return "opened";
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    expect(error.message).not.toContain("hush-hush");
    return error.message;
  }
}

function outcomeOf(parameters: Record<string, string>): Promise<string> {
  const url = new URL(cluster.url);
  url.password = "hush-hush";
  url.search = new URLSearchParams(parameters).toString();
  return outcomeAt(url.href);
}

test("another server at the address is told", async () => {
  const other = createServer((_request, answer) => answer.end()).listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  expect(await outcomeAt(`postgres://me:hush-hush@127.0.0.1:${port}/ads?sslmode=verify-full`)).toMatch(
    /is no PostgreSQL server: correct host and port/,
  );
});

/** The server's answer to a connection and to what it is asked, as a server with another `lc_messages` gives it. */
async function inAnotherLanguage(
  { user = "postgres", options = "" }: { user?: string; options?: string },
  ...questions: readonly string[]
): Promise<{ error: Error; url: string }> {
  const url = new URL(cluster.url);
  Object.assign(url, { username: user, search: new URLSearchParams({ options }).toString() });
  const client = new pg.Client({ connectionString: url.href });
  client.on("error", () => {});
  try {
    await client.connect();
    for (const question of questions) await client.query(question);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return { error: Object.assign(error, { message: "eine Meldung" }), url: url.href };
  } finally {
    await client.end().catch(() => {});
  }
  throw new Error("the server refused nothing");
}

test.each([
  [{ options: "-c nix=1" }, /refuses a parameter of the address .*: eine Meldung; remove/],
  [{ options: "-c work_mem=abc" }, /refuses a parameter of the address/],
  [{ options: "-Z" }, /refuses a parameter of the address/],
  [{ user: "plain", options: "-c log_statement=all" }, /refuses a parameter of the address/],
  [{ user: "shut_out" }, /no access rule for this connection without TLS \(eine Meldung\)/],
])("a server's refusal of %o is recognised in any language", async (of, words) => {
  const [{ hba_file } = {}] = await askServer(cluster.url, "show hba_file");
  const hba = String(hba_file);
  const rules = readFileSync(hba, "utf8");
  writeFileSync(hba, `hostssl all shut_out all trust\nhost all shut_out all reject\n${rules}`);
  onTestFinished(() => writeFileSync(hba, rules));
  await askServer(
    cluster.url,
    `do $$ begin create role plain login; create role shut_out login; exception when duplicate_object then null; end $$`,
  );
  await askServer(cluster.url, "select pg_reload_conf()");
  const faultOf = async () => {
    const { error, url } = await inAnotherLanguage(of);
    return faultOfServer(url, error)?.message;
  };
  await expect.poll(faultOf).toMatch(words);
});

test("a row without a partition is an outage in any language, other faults of the same codes are not", async () => {
  const table = "create temp table facts (day int check (day <> 3)) partition by range (day)";
  const week = "create temp table facts_1 partition of facts for values from (1) to (8)";
  const { error: early } = await inAnotherLanguage({}, table, week, "insert into facts values (9)");
  expect(unavailabilityOf(early)).toBe("out-of-reach");
  const { error: refused } = await inAnotherLanguage({}, table, week, "insert into facts values (3)");
  expect(unavailabilityOf(refused)).toBeUndefined();
  const { error: other } = await inAnotherLanguage({}, "create temp sequence numbers", "select currval('numbers')");
  expect(other).toMatchObject({ code: "55000" });
  expect(unavailabilityOf(other)).toBeUndefined();
});

test("a database that accepts no connections is named, without a stack", async () => {
  await askServer(cluster.url, "create database closed allow_connections false");
  const url = new URL(cluster.url);
  url.pathname = "/closed";
  expect(await outcomeAt(url.href)).toMatch(/\/closed\), or the pooler before it, refuses the connection: .*"closed"/);
});

test("a standby is recognised in any language", { tags: "long" }, async () => {
  const standby = await startTemporaryCluster({
    fsync: false,
    makeData({ data, run }) {
      run("initdb", ["-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
      writeFileSync(join(data, "standby.signal"), "");
    },
  });
  onTestFinished(() => standby.stop());
  const error: unknown = await askServer(standby.url, "select pg_current_wal_lsn()").catch((thrown) => thrown);
  const translated = Object.assign(error as Error, { message: "eine Meldung" });
  expect(unavailabilityOf(translated)).toBe("out-of-reach");
  expect(faultOfServer(standby.url, translated)?.message).toMatch(/still recovers, or is a standby/);
});

test("a parameter of the address that the server does not know, and a password that is missing, are told", async () => {
  const nowhere = new URL(cluster.url);
  nowhere.searchParams.set("options", "-c no.such=1 -c nix=1");
  expect(await outcomeAt(nowhere.href)).toMatch(
    /refuses a parameter of the address or of its options: unrecognized .*"nix"; remove/,
  );
  await askServer(cluster.url, "create role locked login password 'hush-hush'");
  const url = new URL(cluster.url);
  const [{ hba_file } = {}] = await askServer(cluster.url, "show hba_file");
  const hba = String(hba_file);
  const rules = readFileSync(hba, "utf8");
  writeFileSync(hba, `host all locked all scram-sha-256\n${rules}`);
  onTestFinished(() => writeFileSync(hba, rules));
  await askServer(cluster.url, "select pg_reload_conf()");
  url.username = "locked";
  await expect.poll(() => outcomeAt(url.href)).toMatch(/asks for a password, and the address has none/);
});

test.each(["SQL_ASCII", "LATIN1"])(
  "a database in the encoding %s is refused, with how to make one in UTF8",
  async (encoding) => {
    const name = encoding.toLowerCase();
    await askServer(cluster.url, `create database ${name} template template0 encoding '${encoding}' locale 'C'`);
    const url = new URL(cluster.url);
    url.pathname = `/${name}`;
    expect(await outcomeAt(url.href)).toMatch(
      new RegExp(
        `has the encoding ${encoding}, and texts need UTF8: make another one \\(create database .* encoding 'UTF8'`,
      ),
    );
  },
);

test("each fault of TLS has a sentence of its own with the next step", { tags: "long" }, async () => {
  const sslmode = "verify-full";
  expect(await outcomeOf({ sslmode })).toMatch(/offers no TLS: enable it there \(ssl = on\), or.*sslmode=disable/);

  const right = certificate("right");
  await serve(right);
  await expect
    .poll(() => outcomeOf({ sslmode }))
    .toMatch(/is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\).*sslrootcert=\/path\/to\/ca\.pem/);
  expect(await outcomeOf({ sslmode, sslrootcert: right.cert })).toBe("opened");
  expect(await outcomeOf({ sslmode, sslrootcert: join(folder, "missing.pem") })).toMatch(
    /the file of sslrootcert in DATABASE_URL, .*missing\.pem, cannot be read \(ENOENT\)/,
  );
  expect(await outcomeOf({ sslmode, sslrootcert: join(folder, "empty.pem") })).toMatch(
    /not trusted|no certificate or key in PEM/,
  );

  const other = certificate("other", { host: "DNS:db.example" });
  await serve(other);
  await expect
    .poll(() => outcomeOf({ sslmode, sslrootcert: other.cert }))
    .toMatch(/is for another host, DNS:db\.example \(ERR_TLS_CERT_ALTNAME_INVALID\): name the host/);

  const old = certificate("old", { until: "20210101" });
  await serve(old);
  await expect
    .poll(() => outcomeOf({ sslmode, sslrootcert: old.cert }))
    .toMatch(/has expired \(CERT_HAS_EXPIRED\): renew it there/);

  const young = certificate("young", { from: "21000101" });
  await serve(young);
  await expect
    .poll(() => outcomeOf({ sslmode, sslrootcert: young.cert }))
    .toMatch(/is not valid yet \(CERT_NOT_YET_VALID\)/);

  await serve(right);
  await expect.poll(() => outcomeOf({ sslmode, sslrootcert: right.cert })).toBe("opened");
  const [setting] = await askServer(cluster.url, "show hba_file");
  const rules = (...lines: string[]) =>
    `copy (values ${lines.map((line) => `('${line}')`).join(", ")}) to '${setting?.hba_file}'; select pg_reload_conf()`;
  const local = "host postgres postgres 127.0.0.1/32 trust";
  await askServer(cluster.url, `create role app login`);
  await askServer(cluster.url, "create database ads owner app");
  await askServer(cluster.url, rules(local, "hostssl all app 127.0.0.1/32 trust"));
  const asApp = new URL(cluster.url);
  Object.assign(asApp, { username: "app", password: "hush-hush", pathname: "/ads" });
  await expect
    .poll(() => outcomeAt(asApp.href))
    .toMatch(/no access rule for this connection without TLS \(.*\): write sslmode=verify-full/);
  await askServer(cluster.url, rules(local, "hostssl all app 127.0.0.1/32 trust clientcert=verify-ca"));
  await askServer(cluster.url, "alter system set ssl_ca_file = 'server.crt'");
  await askServer(cluster.url, "select pg_reload_conf()");
  asApp.search = new URLSearchParams({ sslmode, sslrootcert: right.cert }).toString();
  await expect
    .poll(() => outcomeAt(asApp.href))
    .toMatch(
      /no access rule for this connection \(.*if it requires a client certificate, name it by sslcert and sslkey/,
    );
});
