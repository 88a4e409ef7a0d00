/**
 * Imported by a process that must not outlive its parent. A killed parent sends no signal, and its servers, in process
 * groups of their own, would keep their ports and the data folder. So this module polls the parent's process id.
 */
const parent = process.ppid;

const asking = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(asking);
  process.kill(process.pid, "SIGTERM");
}, 500).unref();
