import {
  errorKinds,
  type ApprovalNeeded,
  type Diagnostic,
  type ErrorCode,
  type FlowView,
  type MissingParts,
} from '@behalf/contracts';

export interface GatewayErrorOptions {
  /** What happened this time, fit for the caller's eyes: no secret, no stack, no upstream text. */
  detail?: string;
  /** Which inputs are wrong, and how. */
  errors?: readonly Diagnostic[];
  retryAfterMs?: number;
  /** What the caller's user has to approve before the call runs. */
  approval?: ApprovalNeeded;
  /** What has changed so that a kept secret is not sent there any more. */
  changedFields?: readonly string[];
  /** What the caller's own token lacks: JSON text that the identity provider understands. */
  challenge?: { readonly claims?: string | undefined };
  /** The sign-in that is under way already. */
  flow?: FlowView;
  /** What has to be there before a block runs. */
  missing?: MissingParts;
  /** The sign-in that is missing, as `behalf/auth` has it: why, and where it is made up for. */
  signIn?: Readonly<Record<string, unknown>>;
  /** Where the caller's user has to go first, as a client of MCP understands it (-32042). */
  elicitations?: readonly Readonly<Record<string, unknown>>[];
  /** What the caller's client has to declare first, as a client of MCP understands it (-32021). */
  requiredCapabilities?: Readonly<Record<string, unknown>>;
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
  readonly approval: ApprovalNeeded | undefined;
  readonly changedFields: readonly string[] | undefined;
  readonly challenge: { readonly claims?: string | undefined } | undefined;
  readonly flow: FlowView | undefined;
  readonly missing: MissingParts | undefined;
  readonly signIn: Readonly<Record<string, unknown>> | undefined;
  readonly elicitations: readonly Readonly<Record<string, unknown>>[] | undefined;
  readonly requiredCapabilities: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    const { detail, errors, retryAfterMs, approval, changedFields, challenge, flow, missing, cause } =
      options;
    super(detail ?? errorKinds[code].title, { cause });
    this.code = code;
    this.detail = detail ?? `${errorKinds[code].title}. ${errorKinds[code].action}`;
    this.errors = errors;
    this.retryAfterMs = retryAfterMs;
    this.approval = approval;
    this.changedFields = changedFields;
    this.challenge = challenge;
    this.flow = flow;
    this.missing = missing;
    this.signIn = options.signIn;
    this.elicitations = options.elicitations;
    this.requiredCapabilities = options.requiredCapabilities;
  }
}
