import {
  errorKinds,
  type ApprovalNeeded,
  type Diagnostic,
  type ErrorCode,
  type FlowView,
  type MissingParts,
} from '@behalf/contracts';

/** The sign-in that a user needs before the gateway can call a server. Only adapters write it to `_meta["behalf/auth"]`. */
export interface SignInRequirement {
  /** The code of the audit event. The caller always gets `MCP_AUTHORIZATION_REQUIRED`. */
  readonly code: ErrorCode;
  /** Tells the model and its user what to do. */
  readonly text: string;
  /** Name of the server. */
  readonly server: string;
  /** The stored credential that no longer works. */
  readonly credentialId?: string | undefined;
  readonly reason: string;
  /** Path of the page where the user signs in. */
  readonly connectUrl: string;
  /** Scopes that the next sign-in must request, separated by spaces. */
  readonly scopes?: string | undefined;
}

export interface GatewayErrorOptions {
  /** Text for the caller. Contains no secret, no stack trace and no text from a server. */
  detail?: string;
  /** The invalid inputs. */
  errors?: readonly Diagnostic[];
  retryAfterMs?: number;
  /** The approval that the user must give before the call runs. */
  approval?: ApprovalNeeded;
  /** The changed fields that require the secrets to be entered again. */
  changedFields?: readonly string[];
  /** The claims that the caller's token lacks, as JSON text for the identity provider. */
  challenge?: { readonly claims?: string | undefined };
  /** The sign-in flow that is already running. */
  flow?: FlowView;
  /** The prerequisites that a block lacks. */
  missing?: MissingParts;
  signIn?: SignInRequirement;
  /** Pages that the user must open first, in MCP form (JSON-RPC error -32042). */
  elicitations?: readonly Readonly<Record<string, unknown>>[];
  /** Capabilities that the client must declare first, in MCP form (JSON-RPC error -32021). */
  requiredCapabilities?: Readonly<Record<string, unknown>>;
  /** For the log only. */
  cause?: unknown;
}

/** The only error that adapters describe to callers. They report every other error as `INTERNAL` with an incident id. */
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
  readonly signIn: SignInRequirement | undefined;
  readonly elicitations: readonly Readonly<Record<string, unknown>>[] | undefined;
  readonly requiredCapabilities: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    const { detail, cause } = options;
    super(detail ?? errorKinds[code].title, { cause });
    this.code = code;
    this.detail = detail ?? `${errorKinds[code].title}. ${errorKinds[code].action}`;
    this.errors = options.errors;
    this.retryAfterMs = options.retryAfterMs;
    this.approval = options.approval;
    this.changedFields = options.changedFields;
    this.challenge = options.challenge;
    this.flow = options.flow;
    this.missing = options.missing;
    this.signIn = options.signIn;
    this.elicitations = options.elicitations;
    this.requiredCapabilities = options.requiredCapabilities;
  }
}
