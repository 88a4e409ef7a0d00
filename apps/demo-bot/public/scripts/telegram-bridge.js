/**
 * The client's side of Telegram's bridge for mini-apps in a frame: JSON texts `{ eventType, eventData }` by postMessage,
 * heard only from this frame and this origin. What is not among the answers is ignored, as Telegram ignores it.
 */
export function connectBridge(frame, origin, answers) {
  function tell(eventType, eventData) {
    frame.contentWindow?.postMessage(JSON.stringify({ eventType, eventData }), origin);
  }

  function hear(event) {
    if (event.source === null || event.source !== frame.contentWindow || event.origin !== origin) return;
    const { eventType, eventData } = read(event.data);
    if (Object.hasOwn(answers, eventType)) answers[eventType](eventData ?? {});
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
