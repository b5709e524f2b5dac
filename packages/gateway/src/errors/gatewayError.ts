import { errorKinds, type Diagnostic, type ErrorCode } from '@behalf/contracts';

export interface GatewayErrorOptions {
  /** What happened this time, fit for the caller's eyes: no secret, no stack, no upstream text. */
  detail?: string;
  /** Which inputs are wrong, and how. */
  errors?: readonly Diagnostic[];
  retryAfterMs?: number;
  /** For the log alone. */
  cause?: unknown;
}

/** The only error that crosses a door. Everything else is `INTERNAL` with an incident id. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors: readonly Diagnostic[] | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, { detail, errors, retryAfterMs, cause }: GatewayErrorOptions = {}) {
    super(detail ?? errorKinds[code].title, { cause });
    this.code = code;
    this.detail = detail ?? `${errorKinds[code].title}. ${errorKinds[code].action}`;
    this.errors = errors;
    this.retryAfterMs = retryAfterMs;
  }
}
