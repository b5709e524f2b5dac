import type { ErrorCode } from '@behalf/contracts';
import type { SignInReason } from '../credentials/credentials.ts';
import { ReauthNeeded, SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type ServerSnapshot, mayRequireOAuth } from '../servers/definition.ts';
import { toGatewayError } from '../upstream/toGatewayError.ts';
import type { JsonObject, UpstreamResponse } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { AuditContext } from './audit.ts';
import type { PreparedTarget } from './credential.ts';
import { maskPresentedSecrets } from './mask.ts';

/** Where a browser signs in here. What the next sign-in has to prove is known to the page, not to its address. */
export const OPENID_SIGN_IN_PATH = '/oauth/openid';

/** Where a user connects a server. A page of ours that begins nothing by itself: it works for whoever is signed in there. */
export function connectPagePath({ name }: Pick<ServerSnapshot, 'name'>): string {
  return `/servers/${encodeURIComponent(name)}`;
}

/** Why this user must sign in, at the server or here; undefined when that is not what the error is about. */
export function getSignInReason(error: unknown, server: ServerSnapshot): SignInReason | undefined {
  if (error instanceof SignInRequired || error instanceof ReauthNeeded) return error.reason;
  const isUnauthorized = error instanceof UpstreamError && error.reason === 'unauthorized';
  return isUnauthorized && mayRequireOAuth(server) ? 'absent' : undefined;
}

/** What comes of it that a user must sign in, whatever was asked of the server. */
interface SignInRequirement {
  /** Why, as it is written down. */
  readonly code: ErrorCode;
  /** The 401 for whoever brought the token that does not do; absent for everybody else. */
  readonly bearerError: GatewayError | undefined;
  readonly text: string;
  /** `_meta["behalf/auth"]`, of a result or of an error. */
  readonly auth: JsonObject;
}

/**
 * Decided here for calls, reads, lists and tasks alike. A 401 of ours is about the token that the request brought, and about
 * no other: of a sign-in here, or at the server, another request with another token changes nothing.
 */
export function toSignInRequirement(error: unknown, server: ServerSnapshot): SignInRequirement | undefined {
  const reason = getSignInReason(error, server);
  if (reason === undefined) return undefined;
  const reauth = error instanceof ReauthNeeded ? error : undefined;
  const { credentialId, scopes } = error instanceof SignInRequired ? error.detail : {};
  const title = server.settings.title ?? server.name;
  return {
    code: reauth?.detail.code ?? 'MCP_AUTHORIZATION_REQUIRED',
    bearerError: reauth?.detail.via === 'bearer' ? toReauthError(reauth) : undefined,
    text: reauth
      ? `The server "${title}" uses a token from your own sign-in, and you need to sign in again. Do not retry: ask the user to sign in first.`
      : `The server "${title}" needs you to sign in before its tools can be used. Do not retry: ask the user to connect it first.`,
    auth: {
      code: 'needs_reauth',
      server: server.name,
      ...(credentialId !== undefined && { credentialId }),
      reason,
      connectUrl: reauth ? OPENID_SIGN_IN_PATH : connectPagePath(server),
      ...(scopes !== undefined && { scopes }),
      retryable: false,
    },
  };
}

/** Who came with a token that cannot be exchanged brings another: what is refused is the caller's own. */
function toReauthError(error: ReauthNeeded): GatewayError {
  const { code, claims } = error.detail;
  return new GatewayError(code, { challenge: { claims }, cause: error });
}

/** Of a tool it is a result, at every door: a chat shows it to its user, and a model reads that repeating is pointless. */
export function toSignInResult({ text, auth }: SignInRequirement): UpstreamResponse {
  return {
    result: { content: [{ type: 'text', text }], isError: true, _meta: { 'behalf/auth': auth } },
    json: undefined,
  };
}

/** What a caller is told where there is no result that could say it: then the need for a sign-in is an error. */
export function toCallerError(error: unknown, server: ServerSnapshot, auditContext?: AuditContext): unknown {
  const signIn = toSignInRequirement(error, server);
  if (!signIn) return toGatewayError(error, server.name);
  if (auditContext) auditContext.refusalCode = signIn.code;
  const { bearerError, auth } = signIn;
  return bearerError ?? new GatewayError('MCP_AUTHORIZATION_REQUIRED', { signIn: auth, cause: error });
}

/** The server does not do what was asked at all: nothing a model could put right. */
const UNSUPPORTED_CODES = new Set([-32_700, -32_600, -32_601]);
const MAX_ERROR_TEXT_LENGTH = 4_096;

/**
 * A server that answers a call with an error of the protocol has judged it: unknown resource inside, wrong arguments,
 * failure while running. The model needs its words to do better, so they become a result, as a failed tool's do.
 */
export function toToolErrorResult(error: unknown, prepared: PreparedTarget): UpstreamResponse | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'rpc_error') return undefined;
  const { rpc } = error.detail;
  if (!rpc || UNSUPPORTED_CODES.has(rpc.code)) return undefined;
  return {
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

/**
 * The same for what is read rather than run: there it means that the server does not have it, or nothing of its kind. A
 * tool that was listed is of a server that knows calls.
 */
export function toNotFoundError(error: unknown, code: ErrorCode): GatewayError | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'rpc_error') return undefined;
  const rpcCode = error.detail.rpc?.code;
  if (rpcCode === METHOD_NOT_FOUND) return new GatewayError('MCP_METHOD_NOT_FOUND', { cause: error });
  return rpcCode === INVALID_PARAMS || rpcCode === RESOURCE_NOT_FOUND
    ? new GatewayError(code, {
        detail: 'The server does not have this item, or the arguments are invalid. Check both.',
        cause: error,
      })
    : undefined;
}
