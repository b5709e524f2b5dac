import { createSigningKeySource } from '../../identity/openid/provider.ts';
import { verifyJwt } from '../../identity/openid/verifyJwt.ts';
import { withoutRedirects } from '../oauth/network.ts';
import type { SignInTarget } from '../oauth/signInTarget.ts';
import type { FlowPayload, OAuthFlowParts } from './flow.ts';

/**
 * Logs if the ID token of a sign-in at a server is invalid. The gateway makes no decision with this token, and the
 * grant is stored already, so a failure (for example an unreachable key set) does not fail the sign-in.
 */
export async function checkIdToken(
  { network, clock, log }: Pick<OAuthFlowParts, 'network' | 'clock' | 'log'>,
  idToken: string,
  { grant, nonce, jwksUri }: FlowPayload,
  target: SignInTarget,
): Promise<void> {
  if (jwksUri === null) return;
  const { issuer, clientId } = grant.binding;
  const fetch = withoutRedirects(network.fetchFor(target, issuer));
  const metadata = {
    current: () => Promise.resolve({ issuer, jwksUri, document: {} }),
    origins: () => [],
  };
  try {
    const keys = createSigningKeySource({ metadata, fetch, clock, log: () => undefined });
    const { claims } = await verifyJwt(idToken, { keys, clock, issuer, audience: [clientId] });
    if (claims['nonce'] !== undefined && claims['nonce'] !== nonce) throw new Error('nonce');
  } catch {
    log('oauth_id_token_unverified', { server: target.server.name });
  }
}
