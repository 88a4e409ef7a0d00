import type { S3ServiceException } from "@aws-sdk/client-s3";

interface BucketPlace {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
}

/** A fault of the bucket that the operator can repair: the message names the setting, or what to do at the service. */
export class BucketFault extends Error {
  override readonly name = "BucketFault";
  /** Programs print the message alone. */
  readonly isForOperator = true;
  /** It may be gone in a moment: the same request can be repeated. */
  readonly isAway: boolean;

  constructor(message: string, { isAway = false, cause }: { isAway?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isAway = isAway;
  }
}

const TRANSIENT_STATUSES = [408, 429, 500, 502, 503, 504];
/** Names of such errors with another status: services that copy S3 have statuses of their own. */
const TRANSIENT_NAMES = ["SlowDown", "RequestTimeout", "ServiceUnavailable", "InternalError", "OperationAborted"];

/** Whether the service is busy or restarts, or the connection was lost. */
function isTransient(error: unknown): boolean {
  const { name = "", $metadata: { httpStatusCode: status } = {} } = error as Partial<S3ServiceException>;
  // Without a status there was no answer.
  return status === undefined || TRANSIENT_STATUSES.includes(status) || TRANSIENT_NAMES.includes(name);
}

/** What an error of the S3 client means for the operator. Never contains a key. */
export function faultOfBucket(at: BucketPlace, error: unknown): BucketFault {
  return new BucketFault(wordsOf(at, error), { cause: error, isAway: isTransient(error) });
}

function wordsOf({ endpoint, bucket, region }: BucketPlace, error: unknown) {
  const of = `the bucket ${bucket} at ${endpoint}`;
  const {
    name = "",
    code,
    $metadata: { httpStatusCode: status } = {},
  } = error as Partial<S3ServiceException> & {
    code?: unknown;
  };
  const said = [status, name].filter((one) => one !== undefined && one !== "Unknown").join(" ");
  switch (name) {
    case "NoSuchBucket":
      return `${endpoint} has no bucket ${bucket}: make it there, or correct S3_BUCKET`;
    case "InvalidAccessKeyId":
    case "SignatureDoesNotMatch":
    case "InvalidToken":
      return `${of} refuses the keys (${said}): correct S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY`;
    case "RequestTimeTooSkewed":
    case "RequestExpired":
      return `${of} refuses the time of this machine (${said}): set its clock right, with NTP`;
    case "AuthorizationHeaderMalformed":
    case "PermanentRedirect":
    case "TemporaryRedirect":
      return `${of} is not in the region ${region}, or not at this address (${said}): correct S3_REGION and S3_ENDPOINT`;
    case "QuotaExceeded":
    case "XMinioStorageFull":
      return `${of} is full (${said}): free some space there, then try again`;
  }
  if (status === undefined) {
    const reason = typeof code === "string" ? code : error instanceof Error ? error.message : String(error);
    return `${of} does not answer (${reason}): start it, or correct S3_ENDPOINT`;
  }
  if (status === 401 || status === 403)
    return `${of} refuses access (${said}): give the keys the right to read and write its objects`;
  if (status === 507) return `${of} is full (${said}): free some space there, then try again`;
  if (status >= 500) return `${of} fails (${said}): look at that service, then try again`;
  return `what answers at ${endpoint} is no S3 service, or has no bucket ${bucket} (${said}): correct S3_ENDPOINT and S3_BUCKET`;
}

/** A service answers each object with an entity tag; a web page that answers everything with 200 has none. */
export function requireEntityTag(at: BucketPlace, tag: string | undefined): void {
  if (tag !== undefined) return;
  throw new BucketFault(
    `what answers at ${at.endpoint} is no S3 service, as its answers have no entity tag: correct S3_ENDPOINT (the port of the service, not of its web page)`,
  );
}

/** The service said that it had stored the file. */
export function faultOfLoss({ endpoint, bucket }: BucketPlace, file: string): BucketFault {
  return new BucketFault(
    `the bucket ${bucket} at ${endpoint} has not kept ${file}, which it accepted: look at that service, or correct S3_ENDPOINT and S3_BUCKET`,
  );
}
