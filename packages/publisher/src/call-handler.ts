// Rejects for a handler whose call runs nothing: its event would count as handled.
export async function callHandler<Value>(handle: (value: Value) => unknown, value: Value): Promise<void> {
  const returned = await handle(value);
  if (/Generator|Function/.test({}.toString.call(returned))) throw (await import("./wrong-handler.ts")).unrun(returned);
}
