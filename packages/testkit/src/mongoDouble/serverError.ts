import type { Doc } from './values.ts';

/** A reply with `ok: 0` in MongoDB's format. */
export class ServerError extends Error {
  readonly code: number;
  readonly codeName: string;
  /** Further fields of the reply, such as keyPattern and keyValue. */
  readonly details: Doc;

  constructor(code: number, codeName: string, message: string, details: Doc = {}) {
    super(message);
    this.name = 'ServerError';
    this.code = code;
    this.codeName = codeName;
    this.details = details;
  }

  toReply(): Doc {
    return { ok: 0, errmsg: this.message, code: this.code, codeName: this.codeName, ...this.details };
  }
}

export const NOT_IMPLEMENTED = 238;

/** Rejects what is not implemented, so that tests do not pass by accident. */
export function notInManifest(what: string): ServerError {
  return new ServerError(
    NOT_IMPLEMENTED,
    'NotImplemented',
    `Mongo test double: ${what} is not in its manifest`,
  );
}

export function badValue(message: string): ServerError {
  return new ServerError(2, 'BadValue', message);
}

export function failedToParse(message: string): ServerError {
  return new ServerError(9, 'FailedToParse', message);
}

export function duplicateKey(namespace: string, index: string, keyPattern: Doc, keyValue: Doc): ServerError {
  const keyText = Object.entries(keyValue)
    .map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
    .join(', ');
  return new ServerError(
    11000,
    'DuplicateKey',
    `E11000 duplicate key error collection: ${namespace} index: ${index} dup key: { ${keyText} }`,
    { keyPattern, keyValue },
  );
}

/** The error of a former primary. The label allows a driver to retry a retryable write. */
export function notWritablePrimary(retryable: boolean): ServerError {
  return new ServerError(10107, 'NotWritablePrimary', 'not primary', {
    ...(retryable ? { errorLabels: ['RetryableWriteError'] } : {}),
  });
}

export function notPrimaryForReads(): ServerError {
  return new ServerError(13435, 'NotPrimaryNoSecondaryOk', 'not primary and secondaryOk=false');
}
