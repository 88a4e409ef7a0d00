/**
 * Imported by a process that must not outlive the one that started it. A parent that is killed tells nobody, and its
 * servers, in process groups of their own, would go on holding ports and data folder; so this asks who the parent is now.
 */
const parent = process.ppid;

const asking = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(asking);
  process.kill(process.pid, "SIGTERM");
}, 500).unref();
