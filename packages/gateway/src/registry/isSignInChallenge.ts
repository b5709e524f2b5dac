import { UpstreamError } from '../upstream/upstreamError.ts';
import { mayRequireOAuth } from './mayRequireOAuth.ts';
import type { ServerSnapshot } from './server.ts';

/**
 * Whether a first look at a server of the file found that its users have to sign in, of which the file says nothing. The server
 * says so with the challenge of RFC 6750; a refusal without one may be anything.
 */
export function isSignInChallenge(server: ServerSnapshot, error: unknown): boolean {
  const { requiresOAuth, oauth } = server.settings;
  if (server.source !== 'yaml' || requiresOAuth !== undefined || oauth !== undefined) return false;
  if (!(error instanceof UpstreamError) || error.reason !== 'unauthorized') return false;
  return error.detail.challenge?.scheme === 'bearer' && mayRequireOAuth(server);
}
