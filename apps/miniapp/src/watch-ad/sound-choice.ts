const STORED = "sound";

let isOn: boolean | undefined;

/** Whether the viewer wants ads with sound: the last choice on this page or device. Off before the first choice. */
export function isSoundChosen(): boolean {
  isOn ??= readStored() === "on";
  return isOn;
}

export function rememberSound(isChosen: boolean): void {
  isOn = isChosen;
  try {
    localStorage.setItem(STORED, isChosen ? "on" : "off");
  } catch {
    // Storage is not accessible in some frames: the choice lasts as long as the page.
  }
}

function readStored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
