import type { Clock } from '@behalf/kernel';
import { createSigningKeySource } from '../../../identity/openid/keySource.ts';
import { verifyJwt } from '../../../identity/openid/verifyJwt.ts';
import type { Log } from '../../../upstream/parts.ts';
import type { OAuthNetwork } from '../oauthNetwork.ts';
import { withoutRedirects } from '../withoutRedirects.ts';
import type { SignInTarget } from '../signInTarget.ts';
import type { FlowPayload } from './flowPayload.ts';

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
