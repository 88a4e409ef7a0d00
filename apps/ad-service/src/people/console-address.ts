/** The origins from which people use the console: that of the service, and on a machine of one's own each of its names. */
export function consoleOrigins(publicUrl: string): string[] {
  const { protocol, hostname, host, origin } = new URL(publicUrl);
  if (protocol !== "http:" || !loopback.includes(hostname)) return [origin];
  const port = host.slice(hostname.length);
  return loopback.map((name) => `http://${name}${port}`);
}

const loopback = ["localhost", "127.0.0.1", "[::1]"];

/** Where the console is. On a machine of one's own it is `localhost`, to which browsers give secure cookies and passkeys. */
export function consoleAddress(publicUrl: string): string {
  const [origin = publicUrl] = consoleOrigins(publicUrl);
  return `${origin}/console`;
}
