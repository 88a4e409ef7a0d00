/**
 * The import graph between the features and the root files of an app, without tests. A feature is one node, each root file
 * is one; type imports count.
 */
import type { ICruiseResult } from "dependency-cruiser";

export interface ImportLayers {
  app: string;
  /** The longest chain of imports, from the top: `main.ts → app.ts → views → …`. */
  longest: string[];
  /** Imports of a feature by a root file that this feature imports itself, directly or not: `ad-database.ts → bots`. */
  upward: string[];
}

export function importLayers(result: ICruiseResult): ImportLayers[] {
  return [...graphs(result)].map(([app, graph]) => {
    const upward = upwardImports(graph);
    for (const [from, to] of upward) graph.get(from)?.delete(to);
    return { app, longest: maxChain(graph), upward: upward.map((edge) => edge.join(" → ")) };
  });
}

type Graph = Map<string, Set<string>>;

function graphs({ modules }: ICruiseResult): Map<string, Graph> {
  const all = new Map<string, Graph>();
  for (const { source, dependencies } of modules) {
    const from = nodeOf(source);
    if (from === undefined) continue;
    const graph = all.get(from.app) ?? new Map<string, Set<string>>();
    all.set(from.app, graph);
    const imports = graph.get(from.node) ?? new Set<string>();
    graph.set(from.node, imports);
    for (const { resolved } of dependencies) {
      const to = nodeOf(resolved);
      if (to?.app === from.app && to.node !== from.node) imports.add(to.node);
    }
  }
  return all;
}

function nodeOf(path: string): { app: string; node: string } | undefined {
  const [, app, node, inside] = /^apps\/([^/]+)\/src\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const isCode = /(?<![.]test)[.]tsx?$/.test(inside ?? node ?? "");
  return app === undefined || node === undefined || !isCode ? undefined : { app: `apps/${app}`, node };
}

const isRootFile = (node: string) => node.includes(".");

function upwardImports(graph: Graph): [from: string, to: string][] {
  return [...graph].flatMap(([from, imports]) =>
    isRootFile(from)
      ? [...imports]
          .filter((to) => !isRootFile(to) && reaches(graph, to, from))
          .map((to): [string, string] => [from, to])
      : [],
  );
}

function reaches(graph: Graph, from: string, target: string, seen = new Set<string>()): boolean {
  if (from === target) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(graph.get(from) ?? [])].some((next) => reaches(graph, next, target, seen));
}

/** Cycles between features have a rule of their own; here the import that closes one is skipped. */
function maxChain(graph: Graph): string[] {
  const known = new Map<string, string[]>();
  function below(node: string, above: readonly string[]): string[] {
    const found = known.get(node);
    if (found !== undefined) return found;
    let longest: string[] = [];
    for (const next of graph.get(node) ?? []) {
      if (above.includes(next)) continue;
      const chain = below(next, [...above, node]);
      if (chain.length > longest.length) longest = chain;
    }
    const chain = [node, ...longest];
    known.set(node, chain);
    return chain;
  }
  return [...graph.keys()].map((node) => below(node, [])).reduce((a, b) => (b.length > a.length ? b : a), []);
}
