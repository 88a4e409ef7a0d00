import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askServer, startOtherCluster } from "@intermission/testing/copy-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "./open-database.ts";
import { StoreFault } from "./store-faults.ts";

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

test("a parameter of the address that the server does not know, and a password that is missing, are told", async () => {
  const nowhere = new URL(cluster.url);
  nowhere.searchParams.set("options", "-c no.such=1 -c nix=1");
  expect(await outcomeAt(nowhere.href)).toMatch(/refuses a parameter of the address: unrecognized .*"nix"; remove/);
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

test("each fault of TLS has a sentence of its own with the next step", async () => {
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
    .toMatch(/no access rule for this connection without TLS: write sslmode=verify-full/);
  await askServer(cluster.url, rules(local, "hostssl all app 127.0.0.1/32 trust clientcert=verify-ca"));
  await askServer(cluster.url, "alter system set ssl_ca_file = 'server.crt'");
  await askServer(cluster.url, "select pg_reload_conf()");
  asApp.search = new URLSearchParams({ sslmode, sslrootcert: right.cert }).toString();
  await expect
    .poll(() => outcomeAt(asApp.href))
    .toMatch(/requires a client certificate: name it by sslcert and sslkey/);
});
