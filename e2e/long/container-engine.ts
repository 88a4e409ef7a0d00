import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { build } from "tsdown";
import { root } from "../../scripts/processes.ts";

const programs = ["buildah", "podman", "podman-compose", "runc", "mmdebstrap"];
/** Debian's packages, kept between runs. */
const archive = join(root, "node_modules/.cache/images/debian.tar");

/** Why no container can run here, in one line; undefined if one can. */
export function missingForContainers(): string | undefined {
  if (process.getuid?.() !== 0) return "containers need root";
  const missing = programs.filter((name) => spawnSync("which", [name]).status !== 0);
  if (missing.length > 0) return `${missing.join(", ")} missing. Enable it: apt-get install ${missing.join(" ")}`;
  if (!existsSync("/usr/lib/cni/dnsname"))
    return "names of containers need golang-github-containernetworking-plugin-dnsname, by apt-get install";
  return undefined;
}

/**
 * A `docker` that runs without a daemon, by buildah and podman, on a storage of its own. The official images cannot be pulled
 * here: one image of Debian's packages and this repository's Node stands in for those of Node, PostgreSQL, Caddy and the bucket.
 */
export async function openContainerEngine() {
  const folder = mkdtempSync("/tmp/intermission-containers-");
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const settings = join(folder, "containers.conf");
  writeFileSync(
    settings,
    `[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n`,
  );
  const storage = join(folder, "storage.conf");
  writeFileSync(
    storage,
    `[storage]\ndriver = "${storageDriver(folder)}"\ngraphroot = "${join(folder, "storage")}"\nrunroot = "${join(folder, "run")}"\n`,
  );
  const variables = { BUILDAH_ISOLATION: "chroot", CONTAINERS_CONF: settings, CONTAINERS_STORAGE_CONF: storage };
  const env = { ...process.env, ...variables };
  const run = (program: string, ...words: string[]) =>
    execFileSync(program, words, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

  const exports = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
  writeFileSync(join(bin, "docker"), `#!/bin/sh\n${exports.join("\n")}\n${dockerScript(mounts())}`);
  chmodSync(join(bin, "docker"), 0o755);
  makeBaseImages(folder, run, await bundledBucket(folder));
  return {
    bin,
    podman: (...words: string[]) => run("podman", ...words),
    remove() {
      const containers = run("podman", "ps", "--all", "--quiet").split("\n").filter(Boolean);
      if (containers.length > 0) run("podman", "rm", "--force", "--time", "0", ...containers);
      spawnSync("podman", ["network", "rm", "--force", "intermission_default"], { env });
      // The mounts of ended containers go a moment later.
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
    },
  };
}

/** `overlay` shares layers; where the kernel does not allow it, `vfs` copies them, which takes minutes. */
function storageDriver(folder: string): "overlay" | "vfs" {
  const tried = join(folder, "tried");
  const where = ["--root", join(tried, "storage"), "--runroot", join(tried, "run")];
  const { status } = spawnSync("buildah", [...where, "--storage-driver", "overlay", "info"]);
  return status === 0 ? "overlay" : "vfs";
}

/** What npm needs inside the build: its settings and its caches. */
function mounts(): string {
  const npm = (...words: string[]) => execFileSync("npm", words, { encoding: "utf8" }).trim();
  const shared = [npm("config", "get", "userconfig"), npm("config", "get", "cache"), pnpmStore];
  return shared
    .filter((path) => existsSync(path))
    .map((path) => `--volume '${path}:${path}'`)
    .join(" ");
}

const pnpmStore = join(process.env.HOME ?? "/root", ".local/share/pnpm/store");

/** The words of Docker that docs/operate.md uses. */
function dockerScript(volumes: string): string {
  return `case "$1 $2" in
"build "*) shift; exec buildah build --format docker --pull-never --network host ${volumes} "$@" ;;
"compose exec") shift 2; [ "$1" = -T ] && shift; service=$1; shift
  exec podman exec --interactive "intermission_\${service}_1" "$@" ;;
"compose up") shift 2; exec podman-compose --project-name intermission --file compose.yaml up --no-build "$@" ;;
"compose "*) shift; exec podman-compose --project-name intermission --file compose.yaml "$@" ;;
*) echo "docker $* is not known here" >&2; exit 1 ;;
esac
`;
}

/** `bucket-server.ts` with all that it imports, in one file. */
async function bundledBucket(folder: string): Promise<string> {
  const entry = join(root, "e2e/long/bucket-server.ts");
  await build({
    config: false,
    entry: { bucket: entry },
    outDir: folder,
    format: "esm",
    platform: "node",
    dts: false,
    clean: false,
    logLevel: "error",
    deps: { alwaysBundle: /./ },
  });
  return join(folder, "bucket.mjs");
}

/** The full name of an image of the deploy files, with its tag, without a digest: a stand-in has another one. */
export function imageNamed(name: string): string {
  const files = ["Dockerfile", "compose.yaml"]
    .map((file) => readFileSync(join(root, "deploy", file), "utf8"))
    .join("\n");
  const [, tag] = new RegExp(`^(?:FROM(?: --platform=\\S+)?| *image:) ${name}:([\\w.-]+)`, "m").exec(files) ?? [];
  if (tag === undefined) throw new Error(`no file of deploy names the image ${name}`);
  return `docker.io/${name.includes("/") ? name : `library/${name}`}:${tag}`;
}

function makeBaseImages(folder: string, run: (program: string, ...words: string[]) => string, bucket: string): void {
  if (!existsSync(archive)) {
    mkdirSync(dirname(archive), { recursive: true });
    run(
      "mmdebstrap",
      "--variant=minbase",
      "--include=ca-certificates,postgresql,caddy",
      "bookworm",
      `${archive}.tmp.tar`,
    );
    execFileSync("mv", [`${archive}.tmp.tar`, archive]);
  }
  const npm = join(folder, "npm");
  cpSync(join(realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim()), "../.."), npm, {
    recursive: true,
    dereference: true,
  });
  const entry = join(folder, "docker-entrypoint.sh");
  writeFileSync(entry, postgresEntry);
  const container = run("buildah", "from", "scratch");
  run("buildah", "add", "--quiet", container, archive, "/");
  run("buildah", "copy", "--quiet", container, process.execPath, "/usr/local/bin/node");
  run("buildah", "copy", "--quiet", container, npm, "/usr/local/lib/node_modules/npm");
  run("buildah", "copy", "--quiet", "--chmod", "755", container, entry, "/usr/local/bin/docker-entrypoint.sh");
  for (const name of ["npm", "npx"])
    run(
      "buildah",
      "run",
      container,
      "ln",
      "-s",
      `../lib/node_modules/npm/bin/${name}-cli.js`,
      `/usr/local/bin/${name}`,
    );
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates !== undefined) {
    run("buildah", "copy", "--quiet", container, certificates, "/etc/ssl/extra.pem");
    run("buildah", "config", "--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem", container);
  }
  run("buildah", "commit", "--quiet", container, imageNamed("node"));
  run("buildah", "commit", "--quiet", container, imageNamed("caddy"));
  run("buildah", "config", "--entrypoint", '["/usr/local/bin/docker-entrypoint.sh"]', container);
  run("buildah", "commit", "--quiet", container, imageNamed("postgres"));
  run("buildah", "copy", "--quiet", container, bucket, "/app/bucket.mjs");
  run("buildah", "config", "--entrypoint", '["node", "/app/bucket.mjs"]', container);
  run("buildah", "commit", "--quiet", container, imageNamed("versity/versitygw"));
  run("buildah", "rm", container);
}

/** What the official image does with the variables that compose.yaml sets. */
const postgresEntry = `#!/bin/sh
set -e
export PGDATA=/var/lib/postgresql/data
export PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
mkdir -p "$PGDATA"; chown postgres "$PGDATA"; chmod 700 "$PGDATA"
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  cat "$POSTGRES_PASSWORD_FILE" > /tmp/password; chown postgres /tmp/password
  $as initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 > /dev/null
  rm /tmp/password
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  echo "create database $POSTGRES_DB" | $as postgres --single -D "$PGDATA" postgres > /dev/null
fi
exec $as postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp
`;
