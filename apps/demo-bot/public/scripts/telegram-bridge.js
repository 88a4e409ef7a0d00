/**
 * The client's side of Telegram's bridge for mini-apps in a frame: JSON strings `{ eventType, eventData }` by postMessage,
 * accepted only from this frame and this origin. Events without an entry in `answers` are ignored, as Telegram does.
 */
export function connectBridge(frame, origin, answers) {
  function tell(eventType, eventData) {
    frame.contentWindow?.postMessage(JSON.stringify({ eventType, eventData }), origin);
  }

  function hear(event) {
    if (event.source === null || event.source !== frame.contentWindow || event.origin !== origin) return;
    const { eventType, eventData } = read(event.data);
    if (Object.keys(answers).includes(eventType)) answers[eventType](eventData ?? {});
  }

  addEventListener("message", hear);
  return { tell, disconnect: () => removeEventListener("message", hear) };
}

function read(data) {
  try {
    return JSON.parse(data) ?? {};
  } catch {
    return {};
  }
}
