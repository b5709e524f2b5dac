import type { SignInReason } from '../credentials/credentials.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Answer } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { SignInNeeded } from './askServer.ts';

/** Why this user must sign in at the server; undefined when that is not what the error is about. */
export function reasonToSignIn(error: unknown, server: ServerSnapshot): SignInReason | undefined {
  if (error instanceof SignInNeeded) return error.reason;
  const refused = error instanceof UpstreamError && error.reason === 'unauthorized';
  return refused && couldSignIn(server) ? 'absent' : undefined;
}

/**
 * A sign-in that is needed is a result of the tool, at every door: a chat shows it to its user, and a model reads that
 * repeating the call is pointless. A 401 of ours would be about our own token.
 */
export function signInNeeded(server: ServerSnapshot, reason: SignInReason): Answer {
  const text = `The server "${server.settings.title ?? server.name}" needs you to sign in before its tools can be used. Do not retry: ask the user to connect it first.`;
  return {
    result: {
      content: [{ type: 'text', text }],
      isError: true,
      _meta: {
        'behalf/auth': {
          code: 'needs_reauth',
          server: server.name,
          reason,
          connectUrl: null,
          retryable: false,
        },
      },
    },
    json: undefined,
  };
}
