import { type SpawnSyncReturns, spawnSync } from "node:child_process";

/** Why no sample can be tried at its own places here, in one line; undefined if it can. */
export function missingForOwnMachine(): string | undefined {
  if (process.getuid?.() !== 0) return "namespaces of their own need root";
  const { status } = onOwnMachine({}, "true");
  return status === 0 ? undefined : "this system allows no namespaces: run it on Linux, with util-linux and iproute2";
}

/** Whatever a program writes there, as a certificate that is to be trusted, is gone with it. */
const OWN_FOLDERS = ["/etc", "/opt", "/usr", "/var"];

/**
 * Runs a shell script as on a machine of its own: in a network of its own, where every port is free, and with these files at
 * these absolute paths, so that a sample runs as it stands. What it starts ends with it, and what it writes is visible only inside.
 */
export function onOwnMachine(
  files: Readonly<Record<string, string>>,
  script: string,
  timeout = 60_000,
): SpawnSyncReturns<string> {
  const steps = [
    "ip link set lo up",
    "mount -t tmpfs tmpfs /mnt",
    ...OWN_FOLDERS.flatMap((folder) => [
      `mkdir /mnt${folder} /mnt${folder}.work`,
      `mount -t overlay overlay -o lowerdir=${folder},upperdir=/mnt${folder},workdir=/mnt${folder}.work ${folder}`,
    ]),
    ...Object.entries(files).map(([place, source]) => `rm -f ${place}; cp ${source} ${place}`),
    "export HOME=/mnt",
    script,
  ];
  const namespaces = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  return spawnSync("unshare", [...namespaces, "sh", "-euc", steps.join("\n")], { encoding: "utf8", timeout });
}
