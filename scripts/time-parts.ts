/** Measures the parts of a command, some of which may run side by side; `times` are the lines that it prints at its end. */
export function timeParts() {
  const beganAt = performance.now();
  const parts: { readonly name: string; readonly seconds: number }[] = [];
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      parts.push({ name, seconds: (performance.now() - startedAt) / 1000 });
    }
  };
  return {
    timed,
    times(): string {
      const total = (performance.now() - beganAt) / 1000;
      const lines = [...parts, { name: "total", seconds: total }];
      const width = Math.max(...lines.map(({ name }) => name.length)) + 2;
      return lines.map(({ name, seconds }) => `${name.padEnd(width)}${seconds.toFixed(1).padStart(7)} s`).join("\n");
    },
  };
}
