import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/browser";

/** Whether the browser has passkeys, which it gives to secure pages and to `localhost`. */
export function hasPasskeys(): boolean {
  return "PublicKeyCredential" in window && window.isSecureContext;
}

/** Why the browser has no passkey for this page. */
export class PasskeyFault extends Error {
  readonly fault: "other-address" | "known-already" | "failed";
  constructor(fault: PasskeyFault["fault"], options?: ErrorOptions) {
    super(fault, options);
    this.fault = fault;
  }
}

/** Extensions of the standard are not used. */
type Sent<Credential> = Omit<Credential, "clientExtensionResults"> & { clientExtensionResults: Record<never, never> };

/** Undefined: the person has closed the browser's window. Throws a `PasskeyFault`. */
export async function askForPasskey(options: object): Promise<Sent<AuthenticationResponseJSON> | undefined> {
  const { startAuthentication } = await import("@simplewebauthn/browser");
  // The options are as the browser's standard has them: the server made them by the same library.
  return unlessClosed(startAuthentication({ optionsJSON: options as PublicKeyCredentialRequestOptionsJSON }));
}

/** Undefined: the person has closed the browser's window. Throws a `PasskeyFault`. */
export async function makePasskey(options: object): Promise<Sent<RegistrationResponseJSON> | undefined> {
  const { startRegistration } = await import("@simplewebauthn/browser");
  return unlessClosed(startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON }));
}

async function unlessClosed<Credential>(request: Promise<Credential>): Promise<Sent<Credential> | undefined> {
  try {
    return { ...(await request), clientExtensionResults: {} };
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    if (name === "NotAllowedError" || name === "AbortError") return undefined;
    if (name === "SecurityError") throw new PasskeyFault("other-address", { cause: error });
    throw new PasskeyFault(name === "InvalidStateError" ? "known-already" : "failed", { cause: error });
  }
}
