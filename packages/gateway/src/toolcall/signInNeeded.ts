import type { SignInReason } from '../credentials/credentials.ts';
import { ReauthNeeded } from '../credentials/reauthNeeded.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Answer } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

/** Where a browser signs in here. What the next sign-in has to prove is known to the page, not to its address. */
export const OWN_SIGN_IN = '/oauth/openid';

/** Where a user connects a server. A page of ours that begins nothing by itself: it works for whoever is signed in there. */
export function connectPage({ name }: Pick<ServerSnapshot, 'name'>): string {
  return `/servers/${encodeURIComponent(name)}`;
}

/** Why this user must sign in, at the server or here; undefined when that is not what the error is about. */
export function reasonToSignIn(error: unknown, server: ServerSnapshot): SignInReason | undefined {
  if (error instanceof SignInRequired || error instanceof ReauthNeeded) return error.reason;
  const refused = error instanceof UpstreamError && error.reason === 'unauthorized';
  return refused && couldSignIn(server) ? 'absent' : undefined;
}

/** Who came with a token that cannot be exchanged brings another: what is refused is the caller's own, so it is a 401. */
export function ownTokenRefused(error: unknown): GatewayError | undefined {
  if (!(error instanceof ReauthNeeded)) return undefined;
  const { code, claims } = error.detail;
  return new GatewayError(code, { challenge: { claims }, cause: error });
}

/** Whether the token that does not do is one that the request brought: of a sign-in here, another request changes nothing. */
export function isBrought(error: unknown): boolean {
  return error instanceof ReauthNeeded && error.detail.via === 'bearer';
}

/**
 * A sign-in that is needed is a result of the tool, at every door: a chat shows it to its user, and a model reads that
 * repeating the call is pointless. A 401 of ours would be about our own token.
 */
export function signInNeeded(server: ServerSnapshot, error: unknown, reason: SignInReason): Answer {
  const title = server.settings.title ?? server.name;
  const own = error instanceof ReauthNeeded;
  const { credentialId, scopes } = error instanceof SignInRequired ? error.detail : {};
  const text = own
    ? `The server "${title}" is called with a token of your own sign-in, and you need to sign in again for that. Do not retry: ask the user to sign in first.`
    : `The server "${title}" needs you to sign in before its tools can be used. Do not retry: ask the user to connect it first.`;
  return {
    result: {
      content: [{ type: 'text', text }],
      isError: true,
      _meta: {
        'behalf/auth': {
          code: 'needs_reauth',
          server: server.name,
          ...(credentialId !== undefined && { credentialId }),
          reason,
          connectUrl: own ? OWN_SIGN_IN : connectPage(server),
          ...(scopes !== undefined && { scopes }),
          retryable: false,
        },
      },
    },
    json: undefined,
  };
}
