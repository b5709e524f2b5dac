import type { ErrorCode } from '@behalf/contracts';
import type { SignInReason } from '../credentials/credentials.ts';
import { ReauthNeeded, SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError, type SignInRequirement } from '../errors/gatewayError.ts';
import { type ServerSnapshot, mayRequireOAuth } from '../definitions/definition.ts';
import { toGatewayError } from '../upstream/toGatewayError.ts';
import type { JsonObject, StartedTask, UpstreamResponse } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { PreparedTarget } from './credential.ts';
import { maskPresentedSecrets } from './mask.ts';

/** The server requests input from the caller, who repeats the request with the answers. */
export interface InputRequiredOutcome {
  readonly kind: 'input_required';
  readonly result: JsonObject;
}

/** The server started a task. The caller polls the task for the result. */
export interface TaskOutcome {
  readonly kind: 'task';
  readonly result: JsonObject;
  readonly task: StartedTask;
}

/** The user must sign in before the gateway can call the server. */
export interface AuthRequiredOutcome {
  readonly kind: 'auth_required';
  readonly signIn: SignInRequirement;
}

/** The outcome of a request that the server answered. */
export type ServerOutcome = UpstreamResponse | InputRequiredOutcome | TaskOutcome;

/**
 * The outcome of a call, up to the adapter (REST, MCP, chat) that serializes it. The fifth kind, an error, is thrown as a
 * `GatewayError`.
 */
export type CallOutcome = ServerOutcome | AuthRequiredOutcome;

/** Page where a browser signs in to the gateway. The gateway keeps the required claims on the server side, not in this path. */
export const OPENID_SIGN_IN_PATH = '/oauth/openid';

/** Page where a user connects a server. Opening the page starts no sign-in. The page works for any signed-in user. */
export function connectPagePath({ name }: Pick<ServerSnapshot, 'name'>): string {
  return `/servers/${encodeURIComponent(name)}`;
}

/** Why the user must sign in, at the server or at the gateway. Undefined for errors that a sign-in does not solve. */
export function getSignInReason(error: unknown, server: ServerSnapshot): SignInReason | undefined {
  if (error instanceof SignInRequired || error instanceof ReauthNeeded) return error.reason;
  const isUnauthorized = error instanceof UpstreamError && error.reason === 'unauthorized';
  return isUnauthorized && mayRequireOAuth(server) ? 'absent' : undefined;
}

/** Maps the failure of a tool call: returns `auth_required`, or throws the error for the caller. */
export function toAuthRequired(error: unknown, server: ServerSnapshot): AuthRequiredOutcome {
  const callerError = toCallerError(error, server);
  if (callerError instanceof GatewayError && callerError.signIn)
    return { kind: 'auth_required', signIn: callerError.signIn };
  throw callerError;
}

/**
 * Maps an error of a call, read, list or task to the error for the caller. Returns a 401 only if the caller's own bearer
 * token cannot be exchanged: then a request with another token can succeed. A missing sign-in, at the gateway or at the
 * server, is not solved by another token, so it is an error with `signIn`.
 */
export function toCallerError(error: unknown, server: ServerSnapshot): unknown {
  const reason = getSignInReason(error, server);
  if (reason === undefined) return toGatewayError(error, server.name);
  const reauth = error instanceof ReauthNeeded ? error : undefined;
  if (reauth?.detail.via === 'bearer') {
    const { code, claims } = reauth.detail;
    return new GatewayError(code, { challenge: { claims }, cause: error });
  }
  const { credentialId, scopes } = error instanceof SignInRequired ? error.detail : {};
  const title = server.settings.title ?? server.name;
  const signIn: SignInRequirement = {
    code: reauth?.detail.code ?? 'MCP_AUTHORIZATION_REQUIRED',
    text: reauth
      ? `The server "${title}" uses a token from your own sign-in, and you need to sign in again. Do not retry: ask the user to sign in first.`
      : `The server "${title}" needs you to sign in before its tools can be used. Do not retry: ask the user to connect it first.`,
    server: server.name,
    credentialId,
    reason,
    connectUrl: reauth ? OPENID_SIGN_IN_PATH : connectPagePath(server),
    scopes,
  };
  return new GatewayError('MCP_AUTHORIZATION_REQUIRED', { signIn, cause: error });
}

/** JSON-RPC codes that a model cannot correct: the server does not support the request at all. */
const UNSUPPORTED_CODES = new Set([-32_700, -32_600, -32_601]);
const MAX_ERROR_TEXT_LENGTH = 4_096;

/**
 * Converts a JSON-RPC error of `tools/call` to a failed tool result. Servers report wrong arguments, unknown items and
 * failures during the run this way, and the model needs the server's text to correct its call.
 */
export function toToolErrorResult(error: unknown, prepared: PreparedTarget): UpstreamResponse | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'rpc_error') return undefined;
  const { rpc } = error.detail;
  if (!rpc || UNSUPPORTED_CODES.has(rpc.code)) return undefined;
  return {
    kind: 'result',
    result: {
      content: [
        { type: 'text', text: maskPresentedSecrets(rpc.message, prepared).slice(0, MAX_ERROR_TEXT_LENGTH) },
      ],
      isError: true,
      _meta: { 'behalf/rpcError': { code: rpc.code } },
    },
    json: undefined,
  };
}

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const RESOURCE_NOT_FOUND = -32_002;

export function isMethodNotFound(error: unknown): boolean {
  return readRpcErrorCode(error) === METHOD_NOT_FOUND;
}

/**
 * Converts a JSON-RPC error of a read, a prompt or a task to a not-found error. Undefined for other errors. Tool calls do
 * not need this: the gateway calls only tools that the server listed.
 */
export function toNotFoundError(error: unknown, code: ErrorCode): GatewayError | undefined {
  const rpcCode = readRpcErrorCode(error);
  if (rpcCode === METHOD_NOT_FOUND) return new GatewayError('MCP_METHOD_NOT_FOUND', { cause: error });
  return rpcCode === INVALID_PARAMS || rpcCode === RESOURCE_NOT_FOUND
    ? new GatewayError(code, {
        detail: 'The server does not have this item, or the arguments are invalid. Check both.',
        cause: error,
      })
    : undefined;
}

function readRpcErrorCode(error: unknown): number | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'rpc_error') return undefined;
  return error.detail.rpc?.code;
}
