import type { Clock } from '@behalf/kernel';
import { createSigningKeySource } from '../../identity/openid/provider.ts';
import { verifyJwt } from '../../identity/openid/verifyJwt.ts';
import type { Log } from '../../upstream/upstream.ts';
import { type OAuthNetwork, withoutRedirects } from '../oauth/network.ts';
import type { SignInTarget } from '../oauth/signInTarget.ts';
import type { FlowPayload } from './flow.ts';

interface CheckParts {
  readonly network: OAuthNetwork;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Tells the operator when an ID token is not what it should be. Nothing of ours is decided by it, and the grant is stored
 * already: a key set that cannot be read just now must not cost anybody their grant.
 */
export async function checkIdToken(
  { network, clock, log }: CheckParts,
  idToken: string,
  { issuer, clientId, nonce, endpoints: { jwks } }: FlowPayload,
  target: SignInTarget,
): Promise<void> {
  if (jwks === null) return;
  const fetch = withoutRedirects(network.fetchFor(target, issuer));
  const metadata = {
    current: () => Promise.resolve({ issuer, jwksUri: jwks, document: {} }),
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
