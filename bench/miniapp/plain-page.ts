import { createServer } from "node:http";
import { freePort } from "../../scripts/processes.ts";

/** The floor: the same video in a page of one element, with no script, no style sheet and no session. */
export async function startPlainPage(mediaUrl: string): Promise<{ url: string; stop(): void }> {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Plain video</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<body style="margin:0;background:#000"><video muted playsinline preload="auto" style="width:100vw;height:100vh" src="${mediaUrl}"></video>`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${port}/`, stop: () => void server.close() };
}
