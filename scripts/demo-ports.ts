import { Problem } from "./say.ts";

function portFrom(variable: string, fallback: number): number {
  const text = process.env[variable];
  if (text === undefined || text === "") return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Problem(`${variable}="${text}" is not a port.`, "Give a number from 1 to 65535.");
}

export function demoPorts(): { demoBot: number; adService: number; api: number } {
  const ports = {
    demoBot: portFrom("DEMO_BOT_PORT", 8700),
    adService: portFrom("AD_SERVICE_PORT", 8701),
    api: portFrom("API_PORT", 8702),
  };
  if (new Set(Object.values(ports)).size < 3) {
    throw new Problem(
      `Three ports are needed, but DEMO_BOT_PORT, AD_SERVICE_PORT and API_PORT are ${Object.values(ports).join(", ")}.`,
      "Set a different port for each.",
    );
  }
  return ports;
}
